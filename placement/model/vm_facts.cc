// SPDX-License-Identifier: Apache-2.0
#include "placement/model/vm_facts.h"

namespace vmnuma {

VmFacts facts_of(const Snapshot& snapshot, const VmState& vm) {
  VmFacts facts;
  facts.name = vm.name;
  facts.shares = vm.weight;
  facts.guest_os = vm.guest_os;
  Bytes memory;
  for (std::size_t i = 0; i < vm.client_count; ++i) {
    const ClientState& client = snapshot.clients[vm.first_client + i];
    facts.vcpus += client.vcpu_count();
    memory += client.memory_size;
  }
  facts.memory_mib = memory.value / kMiB.value;
  return facts;
}

}  // namespace vmnuma
