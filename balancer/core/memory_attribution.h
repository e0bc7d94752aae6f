// SPDX-License-Identifier: Apache-2.0
/// Which part of a VM's memory belongs to which of its clients.
///
/// Problem: a VM is one process with one address space, but its clients live on several nodes and
/// each should have its memory near. Approach: memory that is known to be a client's own, because
/// it belongs to its guest NUMA cells, is its own. Of the rest every client owns a share in
/// proportion to its part of the VM's memory: what lies on its home counts as its own first, and
/// what is left fills up the shares in order of nodes and clients.
///
/// Properties:
///  - nothing is lost or counted twice;
///  - a VM with one client owns all of it;
///  - if every home holds exactly its clients' share, every client is fully local;
///  - if all is known, every client has exactly its own.
#pragma once

#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

struct MemoryOwner {
  NodeIndex home = kNoNode;
  Bytes size;              ///< its part of the VM's memory; only the proportion counts
  std::vector<Bytes> own;  ///< per node, what is known to be its own; empty if nothing is
};

/// Per owner, in their order, the bytes on each node. `on_nodes` is the VM's memory per node.
[[nodiscard]] std::vector<std::vector<Bytes>> attribute_memory(
    const std::vector<Bytes>& on_nodes, const std::vector<MemoryOwner>& owners);

}  // namespace vmnuma::balancer
