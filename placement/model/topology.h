// SPDX-License-Identifier: Apache-2.0
/// The host as the planner sees it: nodes, their CPUs and memory, and their distances.
///
/// A value: when the host changes (hot-plug), there is a new Topology, and the old one stays as it
/// is. Inside the core, nodes are referred to by their index in `nodes`; kernel numbers (NodeId)
/// appear only at the interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma {

/// Index of a node in Topology::nodes.
using NodeIndex = std::size_t;
inline constexpr NodeIndex kNoNode = static_cast<NodeIndex>(-1);

/// SLIT's value for "here" (ACPI 6.5, table 5.96: the diagonal is always 10).
inline constexpr std::int32_t kLocalDistance = 10;

/// A logical CPU that VMs may use.
struct Cpu {
  CpuId id;
  std::int32_t core = 0;              ///< CPUs with the same number share a physical core
  std::int32_t last_level_cache = 0;  ///< CPUs with the same number share it
  bool operator==(const Cpu&) const = default;
};

/// Huge pages of one size on one node.
struct HugePagePool {
  Bytes page_size;
  std::int64_t pages = 0;
  bool operator==(const HugePagePool&) const = default;
};

/// Returns how many pages of that size there are; zero if there is no such pool.
[[nodiscard]] std::int64_t pages_of(const std::vector<HugePagePool>& pools, Bytes page_size);

struct Node {
  NodeId id;
  std::vector<Cpu> cpus;  ///< CPUs that VMs may use, by id; empty on a CPU-less node
  Bytes memory;           ///< zero on a memoryless node
  std::int32_t package = 0;
  std::vector<HugePagePool> huge_pages;
  /// Online CPUs that VMs may not use, ascending: isolated from the scheduler, in another cpuset
  /// partition, or outside the cpuset of VMs.
  std::vector<CpuId> isolated_cpus = {};

  /// Returns true if the node has that CPU and VMs may use it.
  [[nodiscard]] bool has(CpuId cpu) const;
  [[nodiscard]] std::int32_t core_count() const;  ///< distinct physical cores among `cpus`
  [[nodiscard]] std::int32_t cpu_count() const { return static_cast<std::int32_t>(cpus.size()); }
  bool operator==(const Node&) const = default;
};

struct Topology {
  std::vector<Node> nodes;              ///< ascending id; online nodes only
  std::vector<std::int32_t> distances;  ///< SLIT, row by row, nodes.size() squared

  [[nodiscard]] std::int32_t distance(NodeIndex from, NodeIndex to) const {
    return distances[from * nodes.size() + to];
  }
  /// Returns the index of the node with the kernel's number `id`, or nothing.
  [[nodiscard]] std::optional<NodeIndex> index_of(NodeId id) const;
  /// Returns the kernel's number of a node; -1 for no node.
  [[nodiscard]] NodeId id_of(NodeIndex node) const {
    return node < nodes.size() ? nodes[node].id : NodeId{};
  }
  /// Returns the kernel's numbers of all nodes.
  [[nodiscard]] std::vector<NodeId> all_ids() const;
  /// Returns the kernel's numbers of nodes; and the indices of those that exist; both in the given
  /// order.
  [[nodiscard]] std::vector<NodeId> ids_of(const std::vector<NodeIndex>& of) const;
  [[nodiscard]] std::vector<NodeIndex> indices_of(const std::vector<NodeId>& ids) const;
  /// Returns the node of a CPU that VMs may use, or nothing.
  [[nodiscard]] std::optional<NodeIndex> node_of(CpuId cpu) const;
  /// Returns all CPUs that VMs may use, ascending.
  [[nodiscard]] std::vector<CpuId> cpu_ids() const;
  /// Returns the nodes of those of these CPUs that VMs may use. Ascending.
  [[nodiscard]] std::vector<NodeId> nodes_of(const std::vector<CpuId>& of) const;
  /// Returns true if a client can live there: the node has CPUs and memory.
  [[nodiscard]] bool can_be_home(NodeIndex node) const {
    return !nodes[node].cpus.empty() && nodes[node].memory > Bytes{};
  }
  /// Returns the nodes that can be a home, ascending.
  [[nodiscard]] std::vector<NodeIndex> homes() const;
  [[nodiscard]] std::int64_t home_count() const {
    return static_cast<std::int64_t>(homes().size());
  }
  /// Returns the node that has all CPUs, if it can be a home. Such a host has nothing to balance.
  [[nodiscard]] std::optional<NodeIndex> only_home() const;
  bool operator==(const Topology&) const = default;
};

}  // namespace vmnuma
