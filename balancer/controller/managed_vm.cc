// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/managed_vm.h"

#include <utility>

#include <fmt/format.h>

namespace vmnuma::balancer {

std::vector<CpuId> ManagedVm::cpu_subset_of(std::int32_t client) const {
  const auto index = static_cast<std::size_t>(client);
  return cpu_subset && index < cpu_subset->clients.size() ? cpu_subset->clients[index]
                                                          : std::vector<CpuId>{};
}

std::int64_t ManagedVm::count_repair(std::int64_t epoch) {
  repaired_in = epoch;
  repairs = repairs.value_or(0) + 1;
  return *repairs;
}

void ManagedVm::decay_repairs(std::int64_t epoch) {
  if (!repairs) {
    return;
  }
  repaired_in = repaired_in.value_or(epoch);  // absent in older recordings
  for (; *repairs > 0 && epoch - *repaired_in >= kRepairsFade; *repaired_in += kRepairsFade) {
    *repairs /= 2;
  }
  if (*repairs == 0) {
    forget_repairs();
  }
}

void ManagedVm::forget_repairs() {
  repairs.reset();
  repaired_in.reset();
}

std::string ManagedVm::why_left_alone(std::int64_t epoch) const {
  if (released) {
    return "it was released; 'vmnuma manage' takes it back";
  }
  if (refused_policy) {
    return "the policy in its metadata is refused: " + *refused_policy;
  }
  if (confined) {
    return *confined;
  }
  if (pinned_by_others) {
    return "it is pinned externally: " + *pinned_by_others;
  }
  if (recovered_in) {
    return "an action that an earlier run of the daemon left unfinished has just been reverted";
  }
  if (rests_in(epoch)) {
    return fmt::format("{}; tried again in {} epochs", rest->why, rest->until_epoch - epoch);
  }
  return "";
}

void leave_alone(VmState& vm, std::string why) {
  if (!why.empty()) {
    vm.fresh = false;
    vm.epochs_stale = 0;
    vm.stale_because = std::move(why);
  }
}

const ManagedVm& ManagedVms::of(const VmId& vm) const {
  const auto found = vms_.find(vm);
  return found == vms_.end() ? none_ : found->second;
}

std::set<VmId> ManagedVms::left_alone() const {
  std::set<VmId> left_alone;
  for (const auto& [id, vm] : vms_) {
    if (vm.is_left_alone()) {
      left_alone.insert(left_alone.end(), id);
    }
  }
  return left_alone;
}

std::map<ClientId, NodeId> ManagedVms::remembered_homes() const {
  std::map<ClientId, NodeId> homes;
  for (const auto& [id, vm] : vms_) {
    for (const auto& [client, home] : vm.remembered_homes) {
      homes.emplace(ClientId{id, client}, home);
    }
  }
  return homes;
}

void ManagedVms::set_remembered_homes(const std::map<ClientId, NodeId>& homes) {
  for (auto& [id, vm] : vms_) {
    vm.remembered_homes.clear();
  }
  for (const auto& [client, home] : homes) {
    vms_[client.vm].remembered_homes[client.index] = home;
  }
}

}  // namespace vmnuma::balancer
