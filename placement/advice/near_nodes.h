// SPDX-License-Identifier: Apache-2.0
/// Nodes for the cells of a VM: near each other, and with room. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/advice/advice.h"

namespace vmnuma {

/// `count` of `homes`, ascending, that have room for `each` and are as near each other as growing a
/// set from each of them finds; those of `wanted` come first. `count` is at most the number of
/// homes. Takes nodes^2 * count steps.
[[nodiscard]] std::vector<NodeIndex> near_nodes(const AdviceHost& host,
                                                const std::vector<NodeIndex>& homes,
                                                const std::vector<NodeIndex>& wanted,
                                                std::size_t count, Bytes each);

/// SLIT's numbers between those nodes, row by row, in the form a guest may be told: libvirt takes
/// 10 to 254 (schemas/cputypes.rng, 9.0), and a remote node is further than the local one.
[[nodiscard]] std::vector<std::int32_t> distances_between(const Topology& topology,
                                                          const std::vector<NodeIndex>& nodes);

}  // namespace vmnuma
