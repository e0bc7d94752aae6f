// SPDX-License-Identifier: Apache-2.0
#include "stats/history/epoch_rows.h"

#include <cstddef>
#include <utility>

#include "placement/model/vm_facts.h"

namespace vmnuma::stats {

EpochRows epoch_rows(const Snapshot& snapshot, WallTime time) {
  EpochRows epoch{
      .time = time, .epoch_length = {snapshot.epoch_length.value}, .nodes = {}, .clients = {}};
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) {
    const NodeState& node = snapshot.nodes[i];
    if (node.known && node.cpu_measured && node.memory_read) {
      epoch.nodes.push_back({.node = snapshot.topology.nodes[i].id,
                             .used = node.used,
                             .non_vm = node.non_vm,
                             .capacity = node.capacity,
                             .demand = node.demand,
                             .entitled = node.entitled,
                             .owed = node.owed,
                             .load_average = node.load_average,
                             .vcpus = node.vcpus,
                             .free = node.free,
                             .total = node.total,
                             .threads = node.threads});
    }
  }
  for (const VmState& vm : snapshot.vms) {
    if (vm.fresh && vm.cpu_measured && is_any_known(vm.figures) && vm.client_count > 0) {
      epoch.vms.push_back({vm.id, vm.figures});
    }
  }
  for (const ClientState& client : snapshot.clients) {
    const VmState& vm = snapshot.vms[client.vm];
    if (vm.fresh && vm.cpu_measured) {
      ClientSampleRow& row = epoch.clients.emplace_back();
      row.vm = vm.id;
      VmFacts facts = facts_of(snapshot, vm);
      row.vm_name = std::move(facts.name);
      row.vm_memory_mib = facts.memory_mib;
      row.vm_shares = facts.shares;
      row.guest_os = std::move(facts.guest_os);
      row.client = client.id.index;
      row.home = snapshot.topology.id_of(client.home);
      row.vcpus = client.vcpu_count();
      row.used = client.used;
      row.ready = client.ready;
      row.demand = client.demand;
      row.entitled = client.entitled;
      row.owed = client.owed;
      if (client.memory_known && client.home != kNoNode) {
        const Bytes local = client.local_memory();
        row.memory = {local, sum_of(client.memory) - local};
      }
    }
  }
  return epoch;
}

}  // namespace vmnuma::stats
