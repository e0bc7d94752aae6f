// SPDX-License-Identifier: Apache-2.0
#include "placement/model/topology.h"

#include <algorithm>

#include "placement/base/mapped.h"
#include "placement/base/sorted.h"

namespace vmnuma {

std::int64_t pages_of(const std::vector<HugePagePool>& pools, Bytes page_size) {
  const auto found = std::ranges::find(pools, page_size, &HugePagePool::page_size);
  return found == pools.end() ? 0 : found->pages;
}

std::int32_t Node::core_count() const {
  std::vector<std::int32_t> cores = mapped(cpus, &Cpu::core);
  return static_cast<std::int32_t>(sorted_unique(std::move(cores)).size());
}

bool Node::has(CpuId cpu) const {
  return find_sorted(cpus, cpu, &Cpu::id) != nullptr;
}

std::optional<NodeIndex> Topology::node_of(CpuId cpu) const {
  const auto found = std::ranges::find_if(nodes, [cpu](const Node& node) { return node.has(cpu); });
  return found == nodes.end() ? std::nullopt
                              : std::optional(static_cast<NodeIndex>(found - nodes.begin()));
}

std::vector<CpuId> Topology::cpu_ids() const {
  std::vector<CpuId> ids;
  for (const Node& node : nodes) {
    for (const Cpu& cpu : node.cpus) {
      ids.push_back(cpu.id);
    }
  }
  std::ranges::sort(ids);
  return ids;
}

std::vector<NodeId> Topology::nodes_of(const std::vector<CpuId>& of) const {
  std::vector<NodeId> found;
  for (const Node& node : nodes) {
    if (std::ranges::any_of(of, [&node](CpuId cpu) { return node.has(cpu); })) {
      found.push_back(node.id);
    }
  }
  return found;
}

std::optional<NodeIndex> Topology::index_of(NodeId id) const {
  const Node* found = find_sorted(nodes, id, &Node::id);
  return found == nullptr ? std::nullopt
                          : std::optional(static_cast<NodeIndex>(found - nodes.data()));
}

std::vector<NodeId> Topology::all_ids() const {
  return mapped(nodes, &Node::id);
}

std::vector<NodeId> Topology::ids_of(const std::vector<NodeIndex>& of) const {
  std::vector<NodeId> ids;
  ids.reserve(of.size());
  for (const NodeIndex node : of) {
    ids.push_back(id_of(node));
  }
  return ids;
}

std::vector<NodeIndex> Topology::indices_of(const std::vector<NodeId>& ids) const {
  std::vector<NodeIndex> indices;
  for (const NodeId id : ids) {
    if (const std::optional<NodeIndex> node = index_of(id)) {
      indices.push_back(*node);
    }
  }
  return indices;
}

std::vector<NodeIndex> Topology::homes() const {
  std::vector<NodeIndex> homes;
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    if (can_be_home(node)) {
      homes.push_back(node);
    }
  }
  return homes;
}

std::optional<NodeIndex> Topology::only_home() const {
  std::optional<NodeIndex> only;
  for (NodeIndex node = 0; node < nodes.size(); ++node) {
    if (nodes[node].cpus.empty()) {
      continue;
    }
    if (only) {
      return std::nullopt;
    }
    only = node;
  }
  return only && can_be_home(*only) ? only : std::nullopt;
}

}  // namespace vmnuma
