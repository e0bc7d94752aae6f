// SPDX-License-Identifier: Apache-2.0
#include "placement/model/vm_facts.h"

namespace vmnuma {

VmFacts facts_of(const Snapshot& snapshot, const VmState& vm) {
  VmFacts facts;
  facts.name = vm.name;
  facts.shares = vm.weight;
  facts.guest_os = vm.guest_os;
  Bytes memory;
  for (const ClientState& client : clients_of(snapshot, vm)) {
    facts.vcpus += client.vcpu_count();
    memory += client.memory_size;
  }
  facts.memory_mib = memory.value / kMiB.value;
  return facts;
}

}  // namespace vmnuma
