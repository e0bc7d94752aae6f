// SPDX-License-Identifier: Apache-2.0
/// What a host has that not every host has: nodes of memory alone, tiers, clusters, unequal cores.
///
/// Problem: such a host works, but differently than its owner may expect: no VM lives on the memory
/// of a GPU or behind CXL, and a slow core counts like a fast one. Approach: the kernel's files are
/// asked once, for people; decisions go by the topology alone, which has all of it but the
/// capacities, tiers and memory-side caches.
///
/// Terms. memory tier: nodes that the kernel takes to be equally fast; a lower number is faster.
/// memory-side cache: one in front of a node's memory, such as fast memory in cache mode. capacity:
/// what a CPU does in a second, 1024 on the fastest kind.
///
/// Properties:
///  - nothing is said of a host that has nothing of the kind;
///  - a file that is not there or cannot be understood says nothing.
#pragma once

#include <string>
#include <vector>

#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// A phrase for each: "memory only: nodes 2,250-251". `root` is the host's root directory, read are
/// below it sys/devices/system/node/nodeN/memory_side_cache (Linux 6.1,
/// Documentation/ABI/stable/sysfs-devices-node), sys/devices/virtual/memory_tiering/memory_tierN
/// (Documentation/ABI/testing/sysfs-kernel-mm-memory-tiers), sys/devices/system/cpu/cpuN/
/// cpu_capacity (drivers/base/arch_topology.c), and proc/driver/nvidia/gpus/ADDRESS/numa_status,
/// lines "Node:  255" (NVIDIA's open kernel modules, as read by hwloc 2.9).
[[nodiscard]] std::vector<std::string> special_hardware(const files::Directory& root,
                                                        const placement::Topology& topology);

}  // namespace vmnuma::stats
