// SPDX-License-Identifier: Apache-2.0
/// Which vCPUs share a last-level cache. Internal to this folder.
///
/// Problem: QEMU makes an L3 cache for each die of a guest, or for each socket of one die, and
/// Linux wakes threads where it believes that their data is cached. A node of the host may have
/// several such caches (AMD's core complexes), and a vCPU that runs on any CPU of the node then has
/// none of its own. Approach: the guest is told of caches only where they are certain: a node has
/// only one, the pins of the vCPUs determine them, or the VM's policy confines each client to one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "placement/advice/advice.h"

namespace vmnuma {

/// Returns into how many dies to divide each socket of so many cores and threads, so that the vCPUs
/// of one die share a last-level cache of the host, and no two dies do. Nothing if that cannot be
/// determined. `largest_cell` is the number of vCPUs in the largest cell, or of all vCPUs if there
/// are no cells.
[[nodiscard]] std::optional<std::int32_t> dies_of_caches(const VmDescription& vm,
                                                         const Topology& topology,
                                                         const std::vector<NodeIndex>& homes,
                                                         std::size_t largest_cell,
                                                         std::int32_t cores, std::int32_t threads);

}  // namespace vmnuma
