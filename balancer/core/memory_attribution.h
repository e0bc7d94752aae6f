// SPDX-License-Identifier: Apache-2.0
/// Attributes the parts of a VM's memory to its clients.
///
/// Problem: a VM is one process with one address space, but its clients live on several nodes and
/// each should have its memory near. Approach: memory that is known to belong to a client, because
/// it belongs to its guest NUMA cells, is attributed to it. Of the rest every client owns a share
/// in proportion to its part of the VM's memory: first the memory on its home counts as its own,
/// and then what is left fills up the shares in order of nodes and clients.
///
/// Properties:
///  - nothing is lost or counted twice;
///  - a VM with one client owns all of it;
///  - if every home holds exactly its clients' share, every client is fully local;
///  - if the owners of all memory are known, every client has exactly its own.
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

/// Returns the bytes on each node, per owner, in their order. `on_nodes` is the VM's memory per
/// node.
[[nodiscard]] std::vector<std::vector<Bytes>> attribute_memory(
    const std::vector<Bytes>& on_nodes, const std::vector<MemoryOwner>& owners);

}  // namespace vmnuma::balancer
