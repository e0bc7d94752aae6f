// SPDX-License-Identifier: Apache-2.0
/// Nodes for the cells of a VM: near each other, and with room. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/advice/advice.h"

namespace vmnuma {

/// Returns `count` of `homes`, ascending, that have room for `each` and are near each other: the
/// best of the sets that are grown node by node from each home. Those of `wanted` come first.
/// `count` is at most the number of homes. Takes nodes^2 * count steps.
[[nodiscard]] std::vector<NodeIndex> near_nodes(const AdviceHost& host,
                                                const std::vector<NodeIndex>& homes,
                                                const std::vector<NodeIndex>& wanted,
                                                std::size_t count, Bytes each);

/// Returns the SLIT distances between those nodes, row by row, in the form that a guest may be
/// given: libvirt accepts 10 to 254 (schemas/cputypes.rng, 9.0), and a remote node is further than
/// the local one.
[[nodiscard]] std::vector<std::int32_t> distances_between(const Topology& topology,
                                                          const std::vector<NodeIndex>& nodes);

}  // namespace vmnuma
