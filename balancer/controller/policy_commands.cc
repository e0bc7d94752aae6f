// SPDX-License-Identifier: Apache-2.0
// Which policy counts for a VM: the controller's part about the configuration's and the metadata's,
// and its answers to `policy` and `set`.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/controller.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::PlacementStrategy;
using placement::PolicySetting;
using placement::VmDescription;
using placement::VmId;
using placement::VmPolicy;

namespace {

bool has_key(const std::vector<PolicySetting>& settings, std::string_view key) {
  return std::any_of(settings.begin(), settings.end(),
                     [key](const PolicySetting& setting) { return setting.key == key; });
}

/// A node that somebody names must be there; a VM from elsewhere may name what it likes.
Result<void> check_nodes(const VmPolicy& policy, const placement::Topology& topology) {
  for (const placement::NodeId node : policy.nodes) {
    if (!topology.index_of(node)) {
      std::vector<placement::NodeId> all;
      for (const placement::Node& one : topology.nodes) {
        all.push_back(one.id);
      }
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("'nodes' names node {}, but this host has nodes {}", node.value,
                                 placement::to_list(all)));
    }
  }
  return {};
}

}  // namespace

VmPolicy Controller::configured_policy(const VmDescription& vm) const {
  auto found = setup_.policies.find(to_text(vm.id));
  // A name that reads as a UUID is that of another VM there.
  if (found == setup_.policies.end() && !placement::parse_vm_id(vm.name)) {
    found = setup_.policies.find(vm.name);
  }
  return with_strategy(found == setup_.policies.end() ? vm.policy : found->second);
}

/// What is silent about the strategy has the host's.
VmPolicy Controller::with_strategy(VmPolicy policy) const {
  if (policy.strategy == PlacementStrategy::kHost &&
      setup_.strategy != PlacementStrategy::kLeastLostTime) {
    policy.strategy = setup_.strategy;
  }
  return policy;
}

std::vector<VmDescription> Controller::with_policies(std::vector<VmDescription> running) const {
  for (VmDescription& vm : running) {
    vm.policy = configured_policy(vm);
    if (setup_.metadata_wins) {
      vm.policy = with_strategy(with_settings(vm.policy, vm.own_policy).value_or(vm.policy));
    }
  }
  return running;
}

/// The ledger learns which VMs run under which policies; a policy that is refused is told once.
void Controller::apply_domains(Effects& effects) {
  ledger_.set_domains(with_policies(running_));
  std::map<VmId, std::string> refused;
  for (const VmDescription& vm : running_) {
    if (!setup_.metadata_wins) {
      break;
    }
    if (const auto policy = with_settings(configured_policy(vm), vm.own_policy); !policy) {
      refused[vm.id] = policy.error().message;
      if (const auto known = refused_.find(vm.id);
          known == refused_.end() || known->second != policy.error().message) {
        effects.log.push_back(
            {Severity::kWarning,
             fmt::format("the policy in the metadata of VM '{}' is refused: {}; the VM keeps its "
                         "policy of the configuration and is left where it is",
                         vm.name, policy.error().message),
             {{"VM", vm.name}}});
      }
    } else if (refused_.contains(vm.id)) {
      effects.log.push_back(
          {Severity::kNotice,
           fmt::format("the policy in the metadata of VM '{}' is in order now", vm.name),
           {{"VM", vm.name}}});
    }
  }
  refused_ = std::move(refused);
}

PolicyView Controller::policy_view(const VmRecord& vm) const {
  const VmDescription& description = vm.description;
  const auto running =
      std::find_if(running_.begin(), running_.end(),
                   [&](const VmDescription& one) { return one.id == description.id; });
  const VmPolicy configured = running == running_.end() ? VmPolicy{} : configured_policy(*running);
  const auto refused = refused_.find(description.id);
  PolicyView view;
  view.vm = description.name;
  view.vm_uuid = to_text(description.id);
  view.metadata_wins = setup_.metadata_wins;
  view.refused = refused == refused_.end() ? "" : refused->second;
  for (const KeyInfo<VmPolicy>& key : policy_keys()) {
    PolicyKeyView row;
    row.name = key.name;
    row.value = key.get(description.policy);
    row.default_value = key.get(VmPolicy{});
    const bool by_metadata =
        setup_.metadata_wins && view.refused.empty() && has_key(description.own_policy, key.name);
    row.origin = by_metadata                                ? Origin::kMetadata
                 : key.get(configured) != row.default_value ? Origin::kFile
                                                            : Origin::kDefault;
    row.allowed = key.allowed;
    row.help = key.help;
    view.keys.push_back(std::move(row));
  }
  return view;
}

Result<Answer> Controller::policy(const PolicyRequest& request) const {
  return find_vm(request.vm).map([this](const VmRecord* vm) { return Answer(policy_view(*vm)); });
}

Result<PolicyWrite> Controller::write_policy(const SetRequest& request) const {
  const Result<const VmRecord*> vm = find_vm(request.vm);
  if (!vm) {
    return tl::unexpected(vm.error());
  }
  const VmDescription& description = (*vm)->description;
  if (!setup_.metadata_wins) {
    return failure(ErrorCode::kUnsupported,
                   "'metadata_wins' is false in the configuration, so policies in metadata do not "
                   "count; change the VM's table there");
  }
  std::vector<PolicySetting> changes;
  for (const RequestedSetting& setting : request.settings) {
    VmPolicy scratch;
    if (!setting.value && has_key(description.own_policy, setting.key)) {
      // Also what should never have been there can be taken away.
    } else if (auto set = set_policy_key(scratch, setting.key, setting.value.value_or("")); !set) {
      if (setting.value || set.error().code == ErrorCode::kNotFound) {
        return tl::unexpected(std::move(set).error());
      }
    }
    changes.push_back({setting.key, setting.value.value_or("")});
    if (auto there = check_nodes(scratch, setup_.topology); !there) {
      return tl::unexpected(std::move(there).error());
    }
  }
  PolicyWrite write;
  write.vm = description.id;
  write.name = description.name;
  write.settings = changed_settings(description.own_policy, changes);
  write.persistent = request.persistent;
  if (auto policy = with_settings(VmPolicy{}, write.settings); !policy) {
    return failure(std::move(policy).error(),
                   "the policy in the VM's metadata would still be refused, because");
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
