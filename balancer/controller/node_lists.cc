// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/node_lists.h"

#include <algorithm>

namespace vmnuma::balancer {

NodeId id_of(const Topology& topology, NodeIndex node) {
  return node < topology.nodes.size() ? topology.nodes[node].id : NodeId{};
}

std::vector<NodeId> ids_of(const std::vector<NodeIndex>& nodes, const Topology& topology) {
  std::vector<NodeId> ids;
  ids.reserve(nodes.size());
  for (const NodeIndex node : nodes) {
    ids.push_back(id_of(topology, node));
  }
  return ids;
}

std::vector<NodeId> all_ids(const Topology& topology) {
  std::vector<NodeId> ids;
  ids.reserve(topology.nodes.size());
  for (const Node& node : topology.nodes) {
    ids.push_back(node.id);
  }
  return ids;
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
