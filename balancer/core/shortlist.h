// SPDX-License-Identifier: Apache-2.0
/// The nodes and clients that a search looks at first. For the search_*.cc files only.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Returns nodes that can be a home and have known readings, most owed share first.
[[nodiscard]] std::vector<NodeIndex> nodes_by_owed(const Arrangement& arrangement);

/// Returns residents that may be moved for this reason, most demand first.
[[nodiscard]] std::vector<ClientIndex> movable_residents(const Arrangement& arrangement,
                                                         NodeIndex node, Reason reason);

/// Returns at most `count` (two or more) of `clients`, spread evenly over their order, both ends
/// included.
[[nodiscard]] std::vector<ClientIndex> spread_out(const std::vector<ClientIndex>& clients,
                                                  std::size_t count);

}  // namespace vmnuma::balancer
