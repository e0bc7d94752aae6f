// SPDX-License-Identifier: Apache-2.0
/// Describes unusual hardware of a host: memory-only nodes, tiers, clusters, unequal cores.
///
/// Problem: such a host works, but differently than its owner may expect: no VM lives on the memory
/// of a GPU or behind CXL, and a slow core counts like a fast one. Approach: the kernel's files are
/// read once, for display; decisions use only the topology, which has all of this except
/// capacities, tiers and memory-side caches.
///
/// Terms. memory tier: nodes that the kernel considers equally fast; a lower number is faster.
/// memory-side cache: a cache in front of a node's memory, such as fast memory in cache mode.
/// capacity: a CPU's relative speed, 1024 for the fastest kind.
///
/// Properties:
///  - on a host without such hardware the result is empty;
///  - a missing or malformed file adds nothing to it.
#pragma once

#include <string>
#include <vector>

#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// Returns a phrase for each kind: "memory only: nodes 2,250-251". `root` is the host's root
/// directory. The files read are, relative to it, sys/devices/system/node/nodeN/memory_side_cache
/// (Linux 6.1, Documentation/ABI/stable/sysfs-devices-node),
/// sys/devices/virtual/memory_tiering/memory_tierN
/// (Documentation/ABI/testing/sysfs-kernel-mm-memory-tiers), sys/devices/system/cpu/cpuN/
/// cpu_capacity (drivers/base/arch_topology.c), and proc/driver/nvidia/gpus/ADDRESS/numa_status,
/// lines "Node: 255" (NVIDIA's open kernel modules, as read by hwloc 2.9).
[[nodiscard]] std::vector<std::string> special_hardware(const files::Directory& root,
                                                        const Topology& topology);

}  // namespace vmnuma::stats
