// SPDX-License-Identifier: Apache-2.0
/// Reads what the host is: its NUMA nodes, their CPUs, memory, huge pages and distances.
///
/// Problem: node and CPU numbers have holes, nodes may have no memory or no CPUs, and the libraries
/// that promise to tell about them each leave some of that out. Approach: nodes, distances, memory
/// and huge pages come from /sys/devices/system/node (Linux 6.1, drivers/base/node.c), which has
/// them all; cores, caches and packages come from hwloc. A CPU counts if VMs may use it: online,
/// not isolated from the scheduler (isolcpus=, which libvirt avoids by itself too), and in the
/// effective cpuset of machine.slice, or of the root where that slice has no cpuset.
///
/// Terms. memoryless node: has CPUs only. CPU-less node: has memory only (CXL, HBM).
///
/// Properties:
///  - every online node appears, by the kernel's number;
///  - the distance matrix is complete, its columns being the online nodes in the order of their
///    numbers;
///  - a CPU is in exactly one node;
///  - what contradicts itself (a hot-plug while reading) is an Error `corrupt`, and reading again
///    is the cure.
#pragma once

#include "placement/base/result.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// `root` is the host's root directory. With another root than "/" see read_cpu_places() about
/// threads. A CPU-less node has package -1. Only pools with pages appear in `huge_pages`. Errors:
/// unsupported (a kernel without NUMA), corrupt (files contradict each other), permission-denied,
/// io.
[[nodiscard]] Result<placement::Topology> read_topology(const files::Directory& root);

}  // namespace vmnuma::stats
