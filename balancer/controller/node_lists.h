// SPDX-License-Identifier: Apache-2.0
/// Conversion between the kernel's node numbers and indices in a topology.
#pragma once

#include <vector>

#include "balancer/core/ledger.h"
#include "placement/model/ids.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

/// The kernel's number of the node; -1 for no node.
[[nodiscard]] NodeId id_of(const Topology& topology, NodeIndex node);

/// The kernel's numbers of these nodes, in their order.
[[nodiscard]] std::vector<NodeId> ids_of(const std::vector<NodeIndex>& nodes,
                                         const Topology& topology);
/// The kernel's numbers of all nodes, ascending.
[[nodiscard]] std::vector<NodeId> all_ids(const Topology& topology);

/// The nodes that still exist, in the order of `nodes`.
[[nodiscard]] std::vector<NodeIndex> indices_of(const std::vector<NodeId>& nodes,
                                                const Topology& topology);

/// The homes of the VM's clients, without duplicates, in the order of the clients.
[[nodiscard]] std::vector<NodeId> homes_of(const VmRecord& vm);

}  // namespace vmnuma::balancer
