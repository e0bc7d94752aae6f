// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/run.h"

#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "balancer/host/domain_xml.h"
#include "balancer/host/fit_xml.h"
#include "balancer/protocol/request.h"
#include "placement/model/text.h"
#include "stats/linux/directory.h"
#include "stats/linux/read_parsed.h"
#include "tools/hook/arguments.h"
#include "tools/hook/read_input.h"
#include "tools/vmnuma/client.h"

namespace vmnuma::tools {

namespace {

using std::chrono::steady_clock;

/// Somewhat more than libvirt's protocol carries (REMOTE_STRING_MAX,
/// remote/remote_protocol.x, 9.0).
constexpr std::size_t kMostInput = std::size_t{5} * 1024 * 1024;

/// Pages of which size a VM wants makes no difference here.
constexpr placement::Bytes kAnyPageSize{};

Result<void> tell(const HookArguments& arguments, const balancer::Command& command,
                  steady_clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
  const auto answer = ask(arguments.socket_path, command, left);
  return answer ? Result<void>{} : tl::unexpected(answer.error().error);
}

/// A VM that will ask is announced before it does, and withdrawn after it has ended.
Result<void> announce_or_withdraw(const HookArguments& arguments, std::string_view xml,
                                  steady_clock::time_point deadline) {
  const auto vm = balancer::parse_domain_xml(xml, kAnyPageSize);
  if (!vm) {
    return tl::unexpected(vm.error());
  }
  if (!vm->placement_auto) {
    return {};
  }
  const std::string uuid = placement::to_text(vm->id);
  if (arguments.operation == "release") {
    return tell(arguments, balancer::WithdrawRequest{uuid}, deadline);
  }
  // As libvirt counts them for its question: online vCPUs, and MiB rounded up.
  const std::int64_t mib = placement::kMiB.value;
  return tell(arguments,
              balancer::AnnounceRequest{vm->name, uuid, static_cast<std::int32_t>(vm->vcpus.size()),
                                        (vm->max_memory.value + mib - 1) / mib},
              deadline);
}

Result<balancer::HostSets> read_host(const std::string& root) {
  const auto directory = stats::Directory::open(root);
  if (!directory) {
    return tl::unexpected(directory.error());
  }
  auto cpus =
      stats::read_parsed(*directory, "sys/devices/system/cpu/online", placement::parse_cpu_list);
  if (!cpus) {
    return tl::unexpected(cpus.error());
  }
  auto nodes = stats::read_parsed(*directory, "sys/devices/system/node/has_memory",
                                  placement::parse_node_list);
  if (!nodes) {
    return tl::unexpected(nodes.error());
  }
  if (cpus->empty() || nodes->empty()) {
    return failure(ErrorCode::kCorrupt, "the kernel names no CPU, or no node with memory");
  }
  return balancer::HostSets{std::move(*cpus), std::move(*nodes)};
}

Result<void> fit(const HookArguments& arguments, std::string_view xml,
                 const HookSurroundings& surroundings) {
  const auto host = read_host(surroundings.root);
  if (!host) {
    return tl::unexpected(host.error());
  }
  const auto fitted = balancer::fit_xml(xml, *host);
  if (!fitted) {
    return tl::unexpected(fitted.error());
  }
  if (*fitted) {
    surroundings.out << (*fitted)->xml << std::flush;
    for (const std::string& change : (*fitted)->changes) {
      surroundings.report(fmt::format("VM '{}' comes with {}", arguments.vm, change));
    }
  }
  return {};
}

Result<void> handle(const HookArguments& arguments, const HookSurroundings& surroundings,
                    steady_clock::time_point deadline) {
  const auto xml = read_input(surroundings.in, kMostInput, deadline);
  if (!xml) {
    return tl::unexpected(xml.error());
  }
  if (arguments.operation == "prepare" || arguments.operation == "release") {
    return announce_or_withdraw(arguments, *xml, deadline);
  }
  if (arguments.operation == "migrate" || arguments.operation == "restore") {
    return fit(arguments, *xml, surroundings);
  }
  return {};
}

}  // namespace

void run_hook(std::span<const std::string> arguments, const HookSurroundings& surroundings) {
  const auto deadline = steady_clock::now() + surroundings.limit;
  const auto read = parse_hook_arguments(arguments);
  if (!read) {
    surroundings.report(fmt::format("{}, doing nothing", read.error().message));
    return;
  }
  if (read->help || read->version) {
    surroundings.out << (read->help ? hook_help() : "vmnuma-hook " VMNUMA_VERSION "\n");
    return;
  }
  if (const Result<void> handled = handle(*read, surroundings, deadline); !handled) {
    surroundings.report(fmt::format("at '{}' of VM '{}': {}, going on without", read->operation,
                                    read->vm, handled.error().message));
  }
}

}  // namespace vmnuma::tools
