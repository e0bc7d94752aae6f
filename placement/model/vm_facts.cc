// SPDX-License-Identifier: Apache-2.0
#include "placement/model/vm_facts.h"

namespace vmnuma {

VmFacts facts_of(const Snapshot& snapshot, const VmState& vm) {
  VmFacts facts;
  facts.name = vm.name;
  facts.shares = vm.weight;
  facts.guest_os = vm.guest_os;
  const std::span<const ClientState> clients = clients_of(snapshot, vm);
  facts.vcpus = sum_of(clients, &ClientState::vcpu_count);
  facts.memory_mib = sum_of(clients, &ClientState::memory_size).value / kMiB.value;
  return facts;
}

}  // namespace vmnuma
