// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/node_lists.h"

#include <algorithm>

namespace vmnuma::balancer {

placement::NodeId id_of(const placement::Topology& topology, placement::NodeIndex node) {
  return node < topology.nodes.size() ? topology.nodes[node].id : placement::NodeId{};
}

std::vector<placement::NodeIndex> indices_of(const std::vector<placement::NodeId>& nodes,
                                             const placement::Topology& topology) {
  std::vector<placement::NodeIndex> indices;
  for (const placement::NodeId node : nodes) {
    if (const auto index = topology.index_of(node)) {
      indices.push_back(*index);
    }
  }
  return indices;
}

std::vector<placement::NodeId> homes_of(const VmRecord& vm) {
  std::vector<placement::NodeId> homes;
  for (const ClientRecord& client : vm.clients) {
    if (client.home.value >= 0 &&
        std::find(homes.begin(), homes.end(), client.home) == homes.end()) {
      homes.push_back(client.home);
    }
  }
  return homes;
}

}  // namespace vmnuma::balancer
