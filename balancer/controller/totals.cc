// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/totals.h"

namespace vmnuma::balancer {

namespace {

template <class Map, class Key>
typename Map::mapped_type value_of(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type{} : found->second;
}

}  // namespace

void Totals::advance(const Snapshot& snapshot) {
  for (NodeIndex i = 0; i < snapshot.nodes.size(); ++i) {
    const NodeState& node = snapshot.nodes[i];
    if (node.known) {
      NodeTotal& total = nodes_[snapshot.topology.nodes[i].id];
      total.capacity += node.capacity;
      total.non_vm += node.non_vm;
    }
  }
  std::map<ClientId, CpuTotal> clients;
  for (const ClientState& client : snapshot.clients) {
    CpuTotal& total = clients[client.id];
    total = of(client.id);
    const VmState& vm = snapshot.vms[client.vm];
    if (!vm.fresh || !vm.measured) {
      continue;
    }
    const auto add_to = [&client](CpuTotal& sum) {
      sum.used += client.used;
      sum.ready += client.ready;
      sum.entitled += client.entitled;
      sum.owed += client.owed;
    };
    add_to(total);
    if (client.home != kNoNode) {
      add_to(nodes_[snapshot.topology.nodes[client.home].id].clients);
    }
  }
  clients_ = std::move(clients);
}

void Totals::count_action(Reason reason, migration::ActionState state, Bytes moved) {
  ++actions_[{reason, state}];
  moved_ += moved;
}

CpuTotal Totals::of(const ClientId& client) const {
  return value_of(clients_, client);
}

NodeTotal Totals::of(NodeId node) const {
  return value_of(nodes_, node);
}

std::int64_t Totals::actions(Reason reason, migration::ActionState state) const {
  return value_of(actions_, std::pair{reason, state});
}

}  // namespace vmnuma::balancer
