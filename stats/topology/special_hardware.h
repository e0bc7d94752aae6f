// SPDX-License-Identifier: Apache-2.0
/// Unusual hardware of a host: memory-only nodes, tiers, clusters, unequal cores.
///
/// Problem: such a host works, but differently than its owner may expect: no VM lives on the memory
/// of a GPU or behind CXL, and a slow core counts like a fast one. Approach: the kernel's files are
/// read once, for display; decisions use the topology alone, which has all of it except capacities,
/// tiers and memory-side caches.
///
/// Terms. memory tier: nodes that the kernel considers equally fast; a lower number is faster.
/// memory-side cache: one in front of a node's memory, such as fast memory in cache mode. capacity:
/// a CPU's relative speed, 1024 for the fastest kind.
///
/// Properties:
///  - a host without such hardware gives no phrases;
///  - a missing or unintelligible file gives none.
#pragma once

#include <string>
#include <vector>

#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// A phrase for each: "memory only: nodes 2,250-251". `root` is the host's root directory; below it
/// are read sys/devices/system/node/nodeN/memory_side_cache (Linux 6.1,
/// Documentation/ABI/stable/sysfs-devices-node), sys/devices/virtual/memory_tiering/memory_tierN
/// (Documentation/ABI/testing/sysfs-kernel-mm-memory-tiers), sys/devices/system/cpu/cpuN/
/// cpu_capacity (drivers/base/arch_topology.c), and proc/driver/nvidia/gpus/ADDRESS/numa_status,
/// lines "Node:  255" (NVIDIA's open kernel modules, as read by hwloc 2.9).
[[nodiscard]] std::vector<std::string> special_hardware(const files::Directory& root,
                                                        const Topology& topology);

}  // namespace vmnuma::stats
