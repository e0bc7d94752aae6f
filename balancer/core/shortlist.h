// SPDX-License-Identifier: Apache-2.0
/// Which nodes and clients a search looks at first. For the search_*.cc files only.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Nodes that can be a home and have known readings, most owed share first.
[[nodiscard]] std::vector<placement::NodeIndex> nodes_by_owed(
    const placement::Arrangement& arrangement);

/// Residents that may be moved for this reason, most demand first.
[[nodiscard]] std::vector<placement::ClientIndex> movable_residents(
    const placement::Arrangement& arrangement, placement::NodeIndex node, placement::Reason reason);

/// At most `count` (two or more) of `clients`, spread evenly over their order, both ends included.
[[nodiscard]] std::vector<placement::ClientIndex> spread_out(
    const std::vector<placement::ClientIndex>& clients, std::size_t count);

}  // namespace vmnuma::balancer
