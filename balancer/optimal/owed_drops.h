// SPDX-License-Identifier: Apache-2.0
/// How much less a node's clients are owed if some of them leave.
#pragma once

#include <vector>

#include "placement/node_load.h"

namespace vmnuma::balancer {

/// One amount per resident, such that whichever residents leave, alone or with others, those that
/// stay are owed at least `owed` (what all are owed together) less the amounts of those that left.
/// Few residents are tried in all combinations; of many, each is given its demand, which always
/// holds: a client that leaves takes along what it was owed and leaves behind what it ran, and that
/// is no more than it wanted.
[[nodiscard]] std::vector<CpuTime> drops_of(const Supply& supply,
                                            const std::vector<Load>& residents, CpuTime owed);

}  // namespace vmnuma::balancer
