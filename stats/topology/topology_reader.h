// SPDX-License-Identifier: Apache-2.0
/// Reads the host's topology: its NUMA nodes, their CPUs, memory, huge pages and distances.
///
/// Problem: node and CPU numbers have holes, nodes may have no memory or no CPUs, and the libraries
/// that describe them each omit some of that. Approach: nodes, distances, memory and huge pages
/// come from /sys/devices/system/node (Linux 6.1, drivers/base/node.c), which has them all; cores,
/// caches and packages come from hwloc. A CPU counts if VMs may use it: online, and not reserved
/// from them (cpu_isolation.h).
///
/// Firmware and kernels are sometimes inconsistent. Items that do not fit are left out and named,
/// and the rest is used: a CPU that hwloc does not know, that is offline or that several nodes list
/// (`numa=fake=`); a node with unreadable CPUs or memory. Old kernels have no list of nodes and
/// have CPU masks instead of CPU lists, but they provide the same information.
///
/// Terms. memoryless node: has CPUs only. CPU-less node: has memory only (CXL, HBM, a GPU's).
/// generic initiator: its node has neither.
///
/// Properties:
///  - every online node appears, under the kernel's number, or is named as left out;
///  - the distance matrix is complete, with a column per node that appears, in the order of their
///    numbers; an unreadable row gets Linux's defaults, 10 and 20;
///  - a CPU is in at most one node;
///  - what is left out depends only on the files: if two consecutive readings differ, there was a
///    hot-plug.
#pragma once

#include <vector>

#include "placement/base/result.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

struct TopologyReading {
  Topology topology;
  /// The files that could not be used, each once, and what was left out as a result.
  std::vector<MissingSource> left_out;
  bool operator==(const TopologyReading&) const = default;
};

/// Reads the topology. `root` is the host's root directory; if it is not "/", see read_cpu_places()
/// about threads. A CPU-less node has package -1. Only pools with pages appear in `huge_pages`.
/// Errors: unsupported (a kernel without NUMA), corrupt (no node can be read), permission-denied,
/// io.
[[nodiscard]] Result<TopologyReading> read_topology(const files::Directory& root);

}  // namespace vmnuma::stats
