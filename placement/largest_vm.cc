// SPDX-License-Identifier: Apache-2.0
#include "placement/largest_vm.h"

#include <algorithm>

namespace vmnuma {
namespace {

LargestVm largest_on(const Topology& topology, NodeIndex index, const FreeForVm& free) {
  const Node& node = topology.nodes[index];
  const bool can_live = topology.can_be_home(index);
  const Bytes room = can_live && index < free.room.size() ? free.room[index] : Bytes{};
  LargestVm largest;
  largest.memory = kMiB * (std::max(room, Bytes{}).value / kMiB.value);
  bool has_memory = largest.memory > Bytes{};
  for (const FreeHugePages& pages : free.huge_pages) {
    if (pages.node == node.id) {
      const std::int64_t count = can_live ? std::max<std::int64_t>(pages.free, 0) : 0;
      largest.huge_pages.push_back({pages.page_size, pages.page_size * count});
      has_memory = has_memory || count > 0;
    }
  }
  largest.vcpus = has_memory ? node.cpu_count() : 0;
  return largest;
}

}  // namespace

Bytes room_for_starts(const Arrangement& arrangement, NodeIndex node) {
  return arrangement.snapshot().nodes[node].known
             ? arrangement.room().ordinary(node) - arrangement.untouched().ordinary(node)
             : Bytes{};
}

std::vector<LargestVm> largest_vms(const Topology& topology, const FreeForVm& free) {
  std::vector<LargestVm> by_node;
  by_node.reserve(topology.nodes.size());
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    by_node.push_back(largest_on(topology, node, free));
  }
  return by_node;
}

NodeIndex node_of_largest(const std::vector<LargestVm>& by_node) {
  NodeIndex best = kNoNode;
  for (NodeIndex node = 0; node < by_node.size(); ++node) {
    const LargestVm& one = by_node[node];
    if (one.memory > Bytes{} &&
        (best == kNoNode || one.memory > by_node[best].memory ||
         (one.memory == by_node[best].memory && one.vcpus > by_node[best].vcpus))) {
      best = node;
    }
  }
  return best;
}

}  // namespace vmnuma
