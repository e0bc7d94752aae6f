// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/node_lists.h"

#include <algorithm>

namespace vmnuma::balancer {

NodeId id_of(const Topology& topology, NodeIndex node) {
  return node < topology.nodes.size() ? topology.nodes[node].id : NodeId{};
}

std::vector<NodeIndex> indices_of(const std::vector<NodeId>& nodes, const Topology& topology) {
  std::vector<NodeIndex> indices;
  for (const NodeId node : nodes) {
    if (const auto index = topology.index_of(node)) {
      indices.push_back(*index);
    }
  }
  return indices;
}

std::vector<NodeId> homes_of(const VmRecord& vm) {
  std::vector<NodeId> homes;
  for (const ClientRecord& client : vm.clients) {
    if (client.home.value >= 0 &&
        std::find(homes.begin(), homes.end(), client.home) == homes.end()) {
      homes.push_back(client.home);
    }
  }
  return homes;
}

}  // namespace vmnuma::balancer
