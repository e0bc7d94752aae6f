// SPDX-License-Identifier: Apache-2.0
/// Bounds by how much less a node's clients are owed if some of them leave.
#pragma once

#include <vector>

#include "placement/node_load.h"

namespace vmnuma::balancer {

/// Returns one amount per resident, such that whichever residents leave, alone or with others,
/// those that stay are owed at least `owed` (what all are owed together) less the amounts of those
/// that left. If there are few residents, all combinations are tried; if there are many, each gets
/// its demand, which is always valid: a client that leaves takes along what it was owed and leaves
/// behind what it ran, and together that is no more than it wanted.
[[nodiscard]] std::vector<CpuTime> drops_of(const Supply& supply,
                                            const std::vector<Load>& residents, CpuTime owed);

}  // namespace vmnuma::balancer
