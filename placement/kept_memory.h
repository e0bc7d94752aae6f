// SPDX-License-Identifier: Apache-2.0
/// Memory that is kept on groups of nodes for VMs that were promised it.
///
/// Problem: what a VM was promised may lie on any of its homes, so a VM on several nodes takes room
/// from all of them together, and whether one more promise can be kept depends on how the earlier
/// ones are divided. Approach: as in the kubelet's memory manager, a promise is made on a *group*,
/// the nodes of the VM; but instead of closing a group's nodes to all others, we test whether there
/// is any division of all promises that fits: a flow from promises to nodes, found by shortest
/// augmenting paths.
/// Terms: *capacity* - how much may be promised on a node: all of its memory of one page size
/// except what the system keeps.
/// Properties:
///  1. A promise is kept exactly if some division of it and all earlier ones fits the nodes.
///  2. A promise that is refused changes nothing.
///  3. most(nodes) is the largest promise that could still be kept there.
#pragma once

#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// For one page size. All node indices must be below the capacity's size.
class KeptMemory {
 public:
  /// `capacity` by node; a negative one counts as zero.
  explicit KeptMemory(std::vector<Bytes> capacity);

  /// Keeps that much memory on these nodes together. Returns false if that is impossible.
  [[nodiscard]] bool keep(const std::vector<NodeIndex>& nodes, Bytes memory);
  [[nodiscard]] Bytes most(const std::vector<NodeIndex>& nodes) const;

 private:
  struct Promise {
    std::vector<NodeIndex> nodes;
    std::vector<Bytes> on;  ///< by node of the host: how it is divided at present
  };
  [[nodiscard]] Bytes push(const std::vector<NodeIndex>& nodes, Bytes most);
  [[nodiscard]] Bytes push_once(std::size_t promise, Bytes most);

  std::vector<Bytes> free_;
  std::vector<Promise> promises_;
};

}  // namespace vmnuma
