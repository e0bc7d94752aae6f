// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/vm_policies.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/policy/policy_keys.h"
#include "placement/arrangement.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

constexpr std::string_view kNoMask =
    "only libvirt can set the nodes that a VM's memory may use, and it does not manage this VM";

bool has_key(const std::vector<PolicySetting>& settings, std::string_view key) {
  return std::ranges::find(settings, key, &PolicySetting::key) != settings.end();
}

/// Checks that nodes named in a command exist; a VM from another host may name any.
Result<void> check_nodes(const VmPolicy& policy, const Topology& topology) {
  for (const NodeId node : policy.nodes) {
    if (!topology.index_of(node)) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("'nodes' names node {}, but this host has nodes {}", node.value,
                                 to_list(topology.all_ids())));
    }
  }
  return {};
}

/// Gives a policy without a strategy the host's.
VmPolicy with_strategy(const Settings& settings, VmPolicy policy) {
  if (policy.strategy == PlacementStrategy::kHost &&
      settings.strategy != PlacementStrategy::kLeastLostTime) {
    policy.strategy = settings.strategy;
  }
  return policy;
}

/// True for memory mode mask if the hypervisor cannot set the VM's memory nodes.
bool is_mask_in_vain(const VmDescription& vm, const VmPolicy& policy) {
  return vm.memory_nodes_fixed && policy.memory_mode == MemoryMode::kMask;
}

/// The configured policy, whether or not its memory mode is possible.
VmPolicy configured_policy(const Settings& settings, const VmDescription& vm) {
  auto found = settings.policies.find(to_text(vm.id));
  // A name that looks like a UUID refers to another VM in the configuration.
  if (found == settings.policies.end() && !parse_vm_id(vm.name)) {
    found = settings.policies.find(vm.name);
  }
  return with_strategy(settings, found == settings.policies.end() ? vm.policy : found->second);
}

/// The configured policy with the VM's own metadata, whether or not its memory mode is possible.
VmPolicy wanted_policy(const Settings& settings, const VmDescription& vm) {
  const VmPolicy configured = configured_policy(settings, vm);
  return settings.metadata_wins
             ? with_strategy(settings,
                             with_settings(configured, vm.own_policy).value_or(configured))
             : configured;
}

void record_refused_masks(const Settings& settings, const std::vector<VmDescription>& running,
                          ManagedVms& vms, Effects& effects) {
  std::map<VmId, bool> refused;
  for (const VmDescription& vm : running) {
    if (!is_mask_in_vain(vm, wanted_policy(settings, vm))) {
      continue;
    }
    refused[vm.id] = true;
    if (!vms.of(vm.id).mask_refused) {
      effects.say_of_vm(
          vm.name, Severity::kWarning,
          fmt::format("memory_mode mask of VM '{}' is refused: {}; its memory mode is soft",
                      vm.name, kNoMask));
    }
  }
  vms.set_each(&ManagedVm::mask_refused, std::move(refused));
}

}  // namespace

std::vector<VmDescription> with_policies(const Settings& settings,
                                         std::vector<VmDescription> running) {
  for (VmDescription& vm : running) {
    vm.policy = wanted_policy(settings, vm);
    if (is_mask_in_vain(vm, vm.policy)) {
      vm.policy.memory_mode = MemoryMode::kSoft;
    }
  }
  return running;
}

void record_refused_policies(const Settings& settings, const std::vector<VmDescription>& running,
                             ManagedVms& vms, Effects& effects) {
  record_refused_masks(settings, running, vms, effects);
  std::map<VmId, std::string> refused;
  for (const VmDescription& vm : running) {
    if (!settings.metadata_wins) {
      break;
    }
    const std::optional<std::string>& known = vms.of(vm.id).refused_policy;
    if (const auto policy = with_settings(configured_policy(settings, vm), vm.own_policy);
        !policy) {
      refused[vm.id] = policy.error().message;
      if (known != policy.error().message) {
        effects.say_of_vm(
            vm.name, Severity::kWarning,
            fmt::format("the policy in the metadata of VM '{}' is refused: {}; the VM keeps the "
                        "policy that the configuration gives it, and is left where it is",
                        vm.name, policy.error().message));
      }
    } else if (known) {
      effects.say_of_vm(vm.name, Severity::kNotice,
                        fmt::format("the policy in the metadata of VM '{}' is valid now", vm.name));
    }
  }
  vms.set_each(&ManagedVm::refused_policy, std::move(refused));
}

std::string unkept_limit_text(const Snapshot& snapshot, const VmState& vm) {
  if (!breaks_max_per_node(snapshot, vm)) {
    return {};
  }
  const std::size_t nodes = snapshot.clients[vm.first_client].allowed.size();
  return fmt::format("max_per_node is {} and cannot be kept: its {} clients may live on {} node{}",
                     vm.policy.max_per_node, vm.client_count, nodes, nodes == 1 ? "" : "s");
}

void record_unkept_limits(const Snapshot& snapshot, ManagedVms& vms, Effects& effects) {
  for (const VmState& vm : snapshot.vms) {
    const std::string text = unkept_limit_text(snapshot, vm);
    const bool known = vms.of(vm.id).limit_unkept;
    if (!text.empty() && !known) {
      effects.say_of_vm(vm.name, Severity::kWarning, fmt::format("VM '{}': {}", vm.name, text));
    }
    if (text.empty() == known) {
      vms[vm.id].limit_unkept = !known;
    }
  }
}

PolicyView policy_view(const Settings& settings, const std::vector<VmDescription>& running,
                       const VmRecord& vm, const ManagedVm& managed) {
  const VmDescription& description = vm.description;
  const auto found = std::ranges::find(running, description.id, &VmDescription::id);
  const VmPolicy configured =
      found == running.end() ? VmPolicy{} : configured_policy(settings, *found);
  PolicyView view;
  view.vm = description.name;
  view.vm_uuid = to_text(description.id);
  view.metadata_wins = settings.metadata_wins;
  view.refused = managed.refused_policy.value_or("");
  for (const KeyInfo<VmPolicy>& key : policy_keys()) {
    PolicyKeyView row;
    row.name = key.name;
    row.value = key.get(description.policy);
    row.default_value = key.get(VmPolicy{});
    const bool by_metadata =
        settings.metadata_wins && view.refused.empty() && has_key(description.own_policy, key.name);
    row.origin = by_metadata                                ? Origin::kMetadata
                 : key.get(configured) != row.default_value ? Origin::kFile
                                                            : Origin::kDefault;
    row.allowed = key.allowed;
    row.help = key.help;
    view.keys.push_back(std::move(row));
  }
  return view;
}

Result<PolicyWrite> policy_write(const Settings& settings, const Topology& topology,
                                 const VmRecord& vm, const SetRequest& request) {
  const VmDescription& description = vm.description;
  if (!settings.metadata_wins) {
    return failure(ErrorCode::kUnsupported,
                   "'metadata_wins' is false in the configuration, so policies in metadata have no "
                   "effect; change the VM's table in the configuration instead");
  }
  std::vector<PolicySetting> changes;
  for (const RequestedSetting& setting : request.settings) {
    VmPolicy scratch;
    if (!setting.value && has_key(description.own_policy, setting.key)) {
      // A key that should never have existed can still be removed.
    } else if (auto set = set_policy_key(scratch, setting.key, setting.value.value_or("")); !set) {
      if (setting.value || set.error().code == ErrorCode::kNotFound) {
        return tl::unexpected(std::move(set).error());
      }
    }
    changes.push_back({setting.key, setting.value.value_or("")});
    if (is_mask_in_vain(description, scratch)) {
      return failure(ErrorCode::kUnsupported,
                     fmt::format("memory_mode cannot be mask: {}", kNoMask));
    }
    const Result<void> is_there = check_nodes(scratch, topology).and_then([&] {
      return check_device_pools(scratch, settings.device_pools);
    });
    if (!is_there) {
      return tl::unexpected(is_there.error());
    }
  }
  PolicyWrite write;
  write.vm = description.id;
  write.name = description.name;
  write.settings = changed_settings(description.own_policy, changes);
  write.persistent = request.persistent;
  VmDescription bare = description;
  bare.policy = {};
  if (auto policy = with_settings(configured_policy(settings, bare), write.settings); !policy) {
    return failure(std::move(policy).error(),
                   "the policy in the VM's metadata would be refused, because");
  }
  return write;
}

DoneView done_view(const PolicyWrite& policy) {
  std::string text;
  for (const PolicySetting& setting : policy.settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.key, setting.value);
  }
  return {fmt::format("the metadata of VM '{}' has {} now{}", policy.name,
                      text.empty() ? "no policy" : text,
                      policy.persistent ? ", also for its next starts" : ""),
          std::nullopt};
}

}  // namespace vmnuma::balancer
