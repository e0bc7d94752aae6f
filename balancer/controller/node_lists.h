// SPDX-License-Identifier: Apache-2.0
/// Between the kernel's numbers of nodes and their places in a topology.
#pragma once

#include <vector>

#include "balancer/core/ledger.h"
#include "placement/model/ids.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

/// The kernel's number; none (-1) for no node.
[[nodiscard]] placement::NodeId id_of(const placement::Topology& topology,
                                      placement::NodeIndex node);

/// The nodes that are still there, in the order of `nodes`.
[[nodiscard]] std::vector<placement::NodeIndex> indices_of(
    const std::vector<placement::NodeId>& nodes, const placement::Topology& topology);

/// The homes of a VM's clients that have one, each once, in the order of the clients.
[[nodiscard]] std::vector<placement::NodeId> homes_of(const VmRecord& vm);

}  // namespace vmnuma::balancer
