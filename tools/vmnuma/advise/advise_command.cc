// SPDX-License-Identifier: Apache-2.0
// `vmnuma advise`: reads a definition and a host, asks placement/advice what the definition should
// be on that host, and prints that. Needs no daemon.
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "balancer/config/config.h"
#include "balancer/host/advise_xml.h"
#include "balancer/policy/policy_keys.h"
#include "placement/advice/advice.h"
#include "placement/advice/common_host.h"
#include "placement/advice/warnings.h"
#include "stats/devices/host_devices.h"
#include "stats/files/directory.h"
#include "stats/files/file.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/memory_formats.h"
#include "tools/vmnuma/advise/advice_text.h"
#include "tools/vmnuma/advise/apply.h"
#include "tools/vmnuma/advise/formats.h"
#include "tools/vmnuma/advise/host_file.h"
#include "tools/vmnuma/advise/kept_definitions.h"
#include "tools/vmnuma/advise/line_diff.h"
#include "tools/vmnuma/advise/virsh.h"
#include "tools/vmnuma/arguments/what_if_arguments.h"
#include "tools/vmnuma/commands/host_config.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

namespace {

/// The huge page size of x86, used if the host does not provide one.
constexpr Bytes kUsualHugePage = kMiB * 2;

tl::unexpected<Error> wrong(std::string message) {
  return failure(ErrorCode::kInvalidArgument, std::move(message));
}

/// Makes a definition of a VM that contains nothing but its size.
Result<std::string> new_vm(const AdviseRun& run) {
  VMNUMA_ASSIGN_OR_RETURN(const auto memory, parse_memory_of("--memory", run.memory));
  std::string backing;
  if (!run.hugepages.empty()) {
    VMNUMA_ASSIGN_OR_RETURN(const auto page, parse_memory_of("--hugepages", run.hugepages));
    backing = fmt::format(
        "  <memoryBacking>\n    <hugepages>\n      <page size='{}' unit='KiB'/>\n"
        "    </hugepages>\n  </memoryBacking>\n",
        page / kKiB.value);
  }
  return fmt::format(
      "<domain type='kvm'>\n  <name>guest</name>\n  <memory unit='KiB'>{}</memory>\n{}"
      "  <vcpu>{}</vcpu>\n  <os>\n    <type arch='x86_64'>hvm</type>\n  </os>\n</domain>\n",
      memory / kKiB.value, backing, *run.vcpus);
}

/// Reads the definition to advise on.
Result<std::string> definition(const AdviseRun& run) {
  const int given = (run.vm.empty() ? 0 : 1) + (run.xml_path.empty() ? 0 : 1) + (run.vcpus ? 1 : 0);
  if ((run.apply || run.undo) && (run.vm.empty() || !run.host_paths.empty())) {
    return wrong("--apply and --undo are for a VM of this host: name it, without --host");
  }
  if (given != 1 || run.vcpus.has_value() == run.memory.empty() ||
      (!run.hugepages.empty() && !run.vcpus)) {
    return wrong("name a VM, or give --xml FILE, or --vcpus N with --memory SIZE");
  }
  if (run.vcpus) {
    return new_vm(run);
  }
  if (!run.xml_path.empty()) {
    return files::read_file(run.xml_path, kMostXml);
  }
  return Virsh(run.uri).definition(run.vm, /*with_passwords=*/run.apply);
}

/// Reads the host in question; for this host, threads count as its daemon counts them.
Result<AdviceHost> host_of(const AdviseRun& run, const balancer::Config& config) {
  if (run.host_paths.empty()) {
    return read_advice_host(run.root).map([&](AdviceHost host) {
      host.prefer_ht = config.options.prefer_ht != 0;
      return host;
    });
  }
  std::vector<AdviceHost> hosts;
  for (const std::string& path : run.host_paths) {
    auto host = read_host_file(path);
    if (!host) {
      return wrong("--host: " + host.error().message);
    }
    hosts.push_back(std::move(*host));
  }
  return hosts.size() == 1 ? std::move(hosts.front()) : common_host(hosts);
}

/// Reads the policy like the daemon, from the configuration and the metadata, and from the command
/// line.
Result<VmPolicy> policy_of(const AdviseRun& run, const balancer::Config& config,
                           const VmDescription& vm) {
  const VmPolicy* of_file = config.policy_of(vm.id, vm.name);
  VmPolicy policy = of_file == nullptr ? VmPolicy{} : *of_file;
  if (config.metadata_wins) {
    auto of_metadata = balancer::with_settings(policy, vm.own_policy);
    if (!of_metadata) {
      return failure(std::move(of_metadata).error(), "the policy in its metadata");
    }
    policy = std::move(*of_metadata);
  }
  for (const std::string& text : run.policy) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0) {
      return wrong(fmt::format("--policy: '{}' is not of the form KEY=VALUE", text));
    }
    if (auto set = balancer::set_policy_key(policy, text.substr(0, sign), text.substr(sign + 1));
        !set) {
      return wrong("--policy: " + set.error().message);
    }
  }
  if (auto agrees = balancer::check_policy(policy); !agrees) {
    return wrong("--policy: " + agrees.error().message);
  }
  return policy;
}

/// For a VM with device pools in its policy, reads this host's devices in these pools and which VMs
/// have them. For another host no device is chosen.
Result<void> read_pools(const AdviseRun& run, const balancer::Config& config,
                        const files::Directory& root, AdviceRequest& request) {
  if (!run.host_paths.empty()) {
    request.vm.policy.device_pools.clear();
  }
  if (request.vm.policy.device_pools.empty()) {
    return {};
  }
  stats::HostDevices devices(root);
  for (const DevicePool& pool : config.device_pools) {
    DevicePool there{pool.name, {}};
    for (const PciDevice& device : pool.devices) {
      if (const auto carriers = devices.of(device); !carriers.empty()) {
        there.devices.push_back({device.address, stats::common_node(carriers)});
      }
    }
    request.pools.push_back(std::move(there));
  }
  const auto definitions = Virsh(run.uri).all();
  if (!definitions) {
    return failure(definitions.error(), "it is not known which VMs have the devices of the pools");
  }
  for (const std::string& xml : *definitions) {
    VMNUMA_ASSIGN_OR_RETURN(auto held, balancer::held_devices(xml));
    request.held.insert(request.held.end(), std::make_move_iterator(held.begin()),
                        std::make_move_iterator(held.end()));
  }
  return {};
}

Result<AdvisedVm> advised(const AdviseRun& run, const balancer::Config& config, std::string xml) {
  VMNUMA_ASSIGN_OR_RETURN(const auto root, files::Directory::open(run.root));
  VMNUMA_ASSIGN_OR_RETURN(const auto host, host_of(run, config));
  const Bytes huge_page =
      files::read_parsed(root, "proc/meminfo", stats::parse_default_huge_page_size)
          .value_or(kUsualHugePage);
  const auto with_file = [&run](Error error) {
    return run.xml_path.empty()
               ? error
               : failure(std::move(error), fmt::format("'{}'", run.xml_path)).value();
  };
  VMNUMA_ASSIGN_OR_RETURN(auto request,
                          balancer::read_advice_request(xml, huge_page).map_error(with_file));
  VMNUMA_ASSIGN_OR_RETURN(request.vm.policy, policy_of(run, config, request.vm));
  if (run.host_paths.empty()) {
    stats::read_device_nodes(root, {&request.vm, 1}, stats::HostDevices::kPatience);
  }
  VMNUMA_RETURN_IF_ERROR(read_pools(run, config, root, request));
  VMNUMA_ASSIGN_OR_RETURN(auto advice, advise(request, host));
  VMNUMA_ASSIGN_OR_RETURN(auto after, balancer::advised_xml(xml, advice));
  AdvisedVm vm{request.vm.id,  request.vm.name, std::move(advice), {},
               std::move(xml), std::move(after)};
  vm.is_new = run.vcpus.has_value();
  if (vm.is_new) {  // the VM has no definition yet
    VMNUMA_ASSIGN_OR_RETURN(auto as_advised, balancer::read_advice_request(vm.after, huge_page));
    as_advised.vm.policy = std::move(request.vm.policy);
    request = std::move(as_advised);
  }
  vm.warnings = warnings_about(request.vm, host);
  return vm;
}

std::string text_in(AdviseFormat format, const AdvisedVm& vm) {
  switch (format) {
    case AdviseFormat::kXml:
      return vm.after + (vm.after.ends_with('\n') ? "" : "\n");
    case AdviseFormat::kDiff:
      return line_diff(vm.before, vm.after, vm.name + " as it is", vm.name + " as advised");
    case AdviseFormat::kVirtInstall:
      return virt_install_arguments(vm.advice);
    case AdviseFormat::kNova:
      return nova_extra_specs(vm.advice);
    case AdviseFormat::kPve:
      return pve_lines(vm.advice);
    case AdviseFormat::kKubevirt:
      return kubevirt_spec(vm.advice);
    case AdviseFormat::kText:
      break;
  }
  return advice_text(vm);
}

}  // namespace

OrFailure<int> AdviseRun::run(const Context& context) const {
  if (context.invocation.sim && host_paths.empty()) {
    return wrong_usage("advice is for this host, not for the simulated one; omit --sim");
  }
  if (undo && host_paths.empty() && xml_path.empty() && !vcpus) {
    return vm.empty() ? list_undo(*this, context) : undo_advice(*this, context);
  }
  const auto result = definition(*this).and_then([&](std::string xml) {
    return read_host_config(root, context).and_then([&](const balancer::Config& config) {
      return advised(*this, config, std::move(xml));
    });
  });
  if (!result) {
    return tl::unexpected(Failure(result.error(), result.error().code == ErrorCode::kInvalidArgument
                                                      ? kExitUsage
                                                      : kExitRefused));
  }
  if (apply) {
    return apply_advice(*this, *result, context);
  }
  return context.print(context.invocation.json ? advice_json(*result) : text_in(format, *result));
}

}  // namespace vmnuma::tools
