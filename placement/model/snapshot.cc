// SPDX-License-Identifier: Apache-2.0
#include "placement/model/snapshot.h"

#include <algorithm>

#include "placement/base/sorted.h"

namespace vmnuma {

std::vector<NodeIndex> known_homes(const Snapshot& snapshot) {
  std::vector<NodeIndex> homes = snapshot.topology.homes();
  std::erase_if(homes, [&](NodeIndex node) { return !snapshot.nodes[node].known; });
  return homes;
}

Permille imbalance_of(const std::vector<Permille>& shares) {
  if (shares.empty()) {
    return Permille{};
  }
  const auto [least, most] = std::ranges::minmax_element(shares);
  return *most - *least;
}

CpuTime capacity_of_host(const Snapshot& snapshot) {
  return sum_of(snapshot.nodes, &NodeState::capacity);
}

Bytes reservations_of(const NodeState& node, Bytes page_size) {
  for (const PagesOfSize& kept : node.reservations) {
    if (kept.page_size == page_size) {
      return kept.memory;
    }
  }
  return Bytes{};
}

Bytes page_size_of(const Snapshot& snapshot, const ClientState& client) {
  return client.page_size.value_or(snapshot.vms[client.vm].huge_page_size);
}

bool is_measured(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.nodes,
                             [](const NodeState& node) { return node.cpu_measured; });
}

const VmState* find_vm(const Snapshot& snapshot, const VmId& id) {
  return find_sorted(snapshot.vms, id, &VmState::id);
}

ClientIndex index_of(const Snapshot& snapshot, const ClientId& id) {
  const ClientState* found = find_client(snapshot, id);
  return found == nullptr ? kNoClient : static_cast<ClientIndex>(found - snapshot.clients.data());
}

const ClientState* find_client(const Snapshot& snapshot, const ClientId& id) {
  return find_sorted(snapshot.clients, id, &ClientState::id);
}

}  // namespace vmnuma
