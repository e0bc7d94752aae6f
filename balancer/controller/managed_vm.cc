// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/managed_vm.h"

namespace vmnuma::balancer {

using placement::ClientId;
using placement::NodeId;
using placement::VmId;

std::vector<placement::CpuId> ManagedVm::cpu_subset_of(std::int32_t client) const {
  const auto index = static_cast<std::size_t>(client);
  return cpu_subset && index < cpu_subset->clients.size() ? cpu_subset->clients[index]
                                                          : std::vector<placement::CpuId>{};
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
