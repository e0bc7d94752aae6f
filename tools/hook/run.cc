// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/run.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "balancer/host/domain_xml.h"
#include "balancer/host/fit_xml.h"
#include "balancer/policy/policy_keys.h"
#include "balancer/protocol/request.h"
#include "balancer/protocol/response.h"
#include "balancer/qemu/pve_vm.h"
#include "placement/base/number.h"
#include "placement/model/text.h"
#include "stats/devices/host_devices.h"
#include "stats/files/directory.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/memory_formats.h"
#include "tools/client/client.h"
#include "tools/hook/arguments.h"
#include "tools/hook/local_admission.h"
#include "tools/hook/read_input.h"

namespace vmnuma::tools {

namespace {

using std::chrono::steady_clock;

/// Somewhat more than libvirt's protocol carries (REMOTE_STRING_MAX,
/// remote/remote_protocol.x, 9.0).
constexpr std::size_t kMostInput = std::size_t{5} * 1024 * 1024;

/// Limit for waiting for room, however long the daemon would let the VM wait.
constexpr std::chrono::seconds kLongestWait{kLongestWaitForRoom_s};
/// Limit for an answer while a start is waiting anyway.
constexpr std::chrono::seconds kWaitingLimit{2};
/// Minimum between two announcements of a VM.
constexpr std::chrono::milliseconds kShortestPause{50};

/// If the page size is unknown, or makes no difference.
constexpr Bytes kAnyPageSize{};

/// Returns the time left until the deadline, never negative.
std::chrono::milliseconds until(steady_clock::time_point deadline) {
  const auto left = deadline - steady_clock::now();
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left),
                  std::chrono::milliseconds(0));
}

/// What to do.
enum class Step { kNothing, kAnnounce, kWithdraw, kFit };

Step step_of(const HookArguments& arguments) {
  const std::string& operation = arguments.operation;
  if (operation == (arguments.is_pve ? "pre-start" : "prepare")) {
    return Step::kAnnounce;
  }
  if (operation == (arguments.is_pve ? "post-stop" : "release")) {
    return Step::kWithdraw;
  }
  const bool arrives = operation == "migrate" || operation == "restore";
  return arrives && !arguments.is_pve ? Step::kFit : Step::kNothing;
}

/// Withdraws the announcement of a VM that has ended or does not start.
Result<void> withdraw(const HookArguments& arguments, const VmDescription& vm,
                      std::chrono::milliseconds limit) {
  const auto answer = ask(arguments.socket_path, balancer::WithdrawRequest{to_text(vm.id)}, limit);
  return answer ? Result<void>{} : tl::unexpected(answer.error().error);
}

balancer::AnnounceRequest announcement(const VmDescription& vm, const files::Directory& root,
                                       std::chrono::seconds waits) {
  balancer::AnnounceRequest request;
  request.waits_s = waits.count();
  request.vm = vm.name;
  request.vm_uuid = to_text(vm.id);
  // Counted like libvirt's request to numad: online vCPUs, and MiB rounded up.
  request.vcpus = static_cast<std::int32_t>(vm.vcpus.size());
  request.memory_mib = whole_mib(vm.max_memory);
  request.asks = vm.placement_auto;
  for (const PolicySetting& setting : vm.own_policy) {
    request.policy.push_back(
        {setting.key, setting.value.empty() ? std::nullopt : std::optional(setting.value)});
  }
  if (vm.nova_project != NovaProject{}) {
    request.nova_project = {vm.nova_project};
  }
  const auto add_placed = [](const auto& devices, auto name, auto& told) {
    for (const auto& device : devices) {
      if (device.node.value >= 0) {
        told.push_back({device.*name, device.node});
      }
    }
  };
  add_placed(vm.pci_devices, &PciDevice::address, request.devices);
  add_placed(vm.mediated_devices, &MediatedDevice::uuid, request.devices);
  add_placed(vm.host_interfaces, &HostInterface::name, request.interfaces);
  add_placed(vm.host_disks, &HostDisk::name, request.disks);
  if (vm.numatune != NumatuneMode::kNone && !vm.numatune_auto) {
    request.numatune = {{vm.numatune, vm.numatune_nodes}};
  }
  for (const GuestCell& cell : vm.cells) {
    balancer::AnnounceRequest::Cell& told = request.cells.emplace_back();
    told.vcpus = cell.vcpus;
    told.memory_mib = whole_mib(cell.memory);
    if (cell.page_size) {
      told.huge_page_kib = cell.page_size->value / 1024;
    }
    if (cell.binding) {
      told.numatune = {*cell.binding};
    }
  }
  request.huge_page_kib = vm.huge_page_size.value / 1024;
  for (const FreeHugePages& pages : read_huge_pages(root, vm)) {
    request.huge_pages.push_back(
        {pages.node, pages.free, pages.total, pages.page_size.value / 1024});
  }
  return request;
}

bool asks_for_admission(const VmPolicy& policy) {
  return policy.topology_policy == TopologyPolicy::kRestricted ||
         policy.topology_policy == TopologyPolicy::kSingleNumaNode ||
         policy.cpu_binding == CpuBinding::kExclusive;
}

/// Returns how much longer the first answer may take for a VM whose start may wait for room.
std::chrono::seconds patience(const VmPolicy& policy) {
  return policy.make_room == MakeRoom::kBeforeStart
             ? std::min(std::chrono::seconds(policy.make_room_deadline_s), kWaitingLimit)
             : std::chrono::seconds(0);
}

/// Decides without the daemon, from its last record and the host's files. A refusal counts only if
/// the daemon was configured to refuse such starts.
Result<void> judge_locally(const HookArguments& arguments, const HookSurroundings& surroundings,
                           const files::Directory& root, const VmDescription& vm,
                           const std::string& why) {
  const auto known = read_admission(surroundings.root, arguments.state_dir);
  const bool is_fresh =
      known && known->is_fresh({surroundings.now_unix_s, files::boot_id_of(root)});
  surroundings.report(fmt::format("at '{}' of VM '{}': {}, judging by {}the host's files",
                                  arguments.operation, arguments.vm, why,
                                  is_fresh ? "what the daemon wrote down last and " : ""));
  Result<void> admitted = admit_locally(root, vm, is_fresh ? &known->state : nullptr);
  if (admitted || (known && known->state.enforces)) {
    return admitted;
  }
  if (admitted.error().code == ErrorCode::kNoSpace) {
    surroundings.report(fmt::format("VM '{}' would not be admitted, but may start because {}: {}",
                                    arguments.vm,
                                    known ? "the daemon was not set to refuse starts"
                                          : "no daemon has been set to refuse starts",
                                    admitted.error().message));
    return {};
  }
  return admitted;
}

using DaemonsAnswer = tl::expected<std::string, Refusal>;

/// Announces the VM, repeatedly while the daemon lets its start wait. Returns the last answer.
DaemonsAnswer ask_until_answered(const HookArguments& arguments, const VmDescription& vm,
                                 const files::Directory& root, const HookSurroundings& surroundings,
                                 steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  DaemonsAnswer answer =
      ask(arguments.socket_path, announcement(vm, root, kLongestWait), until(deadline));
  std::optional<steady_clock::time_point> end;
  for (bool is_last = false; answer && !is_last;) {
    const auto view = balancer::decode_view<balancer::AnnouncedView>(*answer);
    if (!view || !view->ask_again_ms) {
      break;
    }
    if (!end) {
      const milliseconds told(view->at_most_ms.value_or(0));
      end = surroundings.clock() + std::clamp<milliseconds>(told, milliseconds(0), kLongestWait);
      surroundings.report(view->message);
    }
    const auto left = [&] {
      return std::chrono::duration_cast<milliseconds>(*end - surroundings.clock());
    };
    const milliseconds pause = std::clamp<milliseconds>(
        milliseconds(*view->ask_again_ms), kShortestPause, std::max(left(), kShortestPause));
    if (!surroundings.pause(pause)) {
      surroundings.report(fmt::format(
          "the program that called the hook has ended, so VM '{}' no longer waits for room",
          arguments.vm));
      (void)withdraw(arguments, vm, kWaitingLimit);  // there is nobody left to report an error to
      break;
    }
    const seconds waits = std::chrono::ceil<seconds>(left());
    is_last = waits <= seconds(0);
    answer = ask(arguments.socket_path, announcement(vm, root, std::max(waits, seconds(0))),
                 std::max<milliseconds>(surroundings.limit, kWaitingLimit));
  }
  return answer;
}

/// Announces the VM. The error is no-space if and only if its policy does not let it start.
Result<void> announce(const HookArguments& arguments, VmDescription vm,
                      const files::Directory& root, const HookSurroundings& surroundings,
                      steady_clock::time_point deadline) {
  // The policy comes only from the VM's metadata; invalid metadata are ignored, as in the daemon.
  vm.policy = balancer::with_settings({}, vm.own_policy).value_or(VmPolicy{});
  const std::chrono::seconds longer = patience(vm.policy);
  deadline += longer;
  if (longer > std::chrono::seconds(0) && surroundings.pause) {
    (void)surroundings.pause({});  // from here on the hook may take longer than its script expects
  }
  // Time must remain for asking the daemon as well.
  stats::read_device_nodes(root, {&vm, 1}, until(deadline) * 2 / 5);
  const DaemonsAnswer answer = ask_until_answered(arguments, vm, root, surroundings, deadline);
  if (answer) {
    return {};
  }
  const std::string& why = answer.error().error.message;
  if (answer.error().by_daemon && answer.error().error.code == ErrorCode::kNoSpace) {
    return failure(ErrorCode::kNoSpace, why);
  }
  if (!asks_for_admission(vm.policy)) {
    return failure(ErrorCode::kUnavailable, why);
  }
  return judge_locally(arguments, surroundings, root, vm, why);
}

Result<balancer::HostSets> read_host(const std::string& root) {
  VMNUMA_ASSIGN_OR_RETURN(const auto directory, files::Directory::open(root));
  VMNUMA_ASSIGN_OR_RETURN(
      auto cpus, files::read_parsed(directory, "sys/devices/system/cpu/online", parse_cpu_list));
  VMNUMA_ASSIGN_OR_RETURN(
      auto nodes,
      files::read_parsed(directory, "sys/devices/system/node/has_memory", parse_node_list));
  if (cpus.empty() || nodes.empty()) {
    return failure(ErrorCode::kCorrupt, "the kernel names no CPU, or no node with memory");
  }
  return balancer::HostSets{std::move(cpus), std::move(nodes)};
}

Result<void> fit(const HookArguments& arguments, std::string_view xml,
                 const HookSurroundings& surroundings) {
  VMNUMA_ASSIGN_OR_RETURN(const auto host, read_host(surroundings.root));
  VMNUMA_ASSIGN_OR_RETURN(const auto fitted, balancer::fit_xml(xml, host));
  if (fitted) {
    surroundings.out << fitted->xml << std::flush;
    for (const std::string& change : fitted->changes) {
      surroundings.report(
          fmt::format("the XML of VM '{}' is adapted to this host: {}", arguments.vm, change));
    }
  }
  return {};
}

/// Reads the VM from libvirt's XML or from Proxmox VE's configuration.
Result<VmDescription> read_vm(const HookArguments& arguments, const files::Directory& root,
                              std::string_view xml) {
  if (arguments.is_pve) {
    const auto vmid = whole_number<std::int32_t>(arguments.vm);
    if (!vmid || *vmid <= 0) {
      return failure(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a VMID", arguments.vm));
    }
    return balancer::qemu::read_pve_vm(root, *vmid);
  }
  const auto default_page_size =
      files::read_parsed(root, "proc/meminfo", stats::parse_default_huge_page_size);
  return balancer::parse_domain_xml(xml, default_page_size.value_or(kAnyPageSize));
}

Result<void> handle(const HookArguments& arguments, const HookSurroundings& surroundings,
                    steady_clock::time_point deadline) {
  std::string xml;
  if (!arguments.is_pve) {  // the sender waits until the input has been read
    VMNUMA_ASSIGN_OR_RETURN(auto sent, read_input(surroundings.in, kMostInput, deadline));
    xml = std::move(sent);
  }
  const Step step = step_of(arguments);
  if (step == Step::kNothing) {
    return {};
  }
  if (step == Step::kFit) {
    return fit(arguments, xml, surroundings);
  }
  const auto root = files::Directory::open(surroundings.root);
  if (!root) {
    return failure(ErrorCode::kIo, root.error().message);
  }
  VMNUMA_ASSIGN_OR_RETURN(auto vm, read_vm(arguments, *root, xml));
  return step == Step::kWithdraw
             ? withdraw(arguments, vm, until(deadline))
             : announce(arguments, std::move(vm), *root, surroundings, deadline);
}

}  // namespace

int run_hook(std::span<const std::string> arguments, const HookSurroundings& surroundings) {
  const auto deadline = steady_clock::now() + surroundings.limit;
  const auto read = parse_hook_arguments(arguments);
  if (!read) {
    surroundings.report(fmt::format("{}, doing nothing", read.error().message));
    return kHookDone;
  }
  if (read->help || read->version) {
    surroundings.out << (read->help ? hook_help() : "vmnuma-hook " VMNUMA_VERSION "\n");
    return kHookDone;
  }
  const Result<void> handled = handle(*read, surroundings, deadline);
  if (handled) {
    return kHookDone;
  }
  if (step_of(*read) == Step::kAnnounce && handled.error().code == ErrorCode::kNoSpace) {
    surroundings.report(
        fmt::format("VM '{}' may not start: {}", read->vm, handled.error().message));
    return kHookRefused;
  }
  surroundings.report(fmt::format("at '{}' of VM '{}': {}, continuing without it", read->operation,
                                  read->vm, handled.error().message));
  return kHookDone;
}

}  // namespace vmnuma::tools
