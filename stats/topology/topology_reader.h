// SPDX-License-Identifier: Apache-2.0
/// Reads what the host is: its NUMA nodes, their CPUs, memory, huge pages and distances.
///
/// Problem: node and CPU numbers have holes, nodes may have no memory or no CPUs, and the libraries
/// that promise to tell about them each leave some of that out. Approach: nodes, distances, memory
/// and huge pages come from /sys/devices/system/node (Linux 6.1, drivers/base/node.c), which has
/// them all; cores, caches and packages come from hwloc. A CPU counts if VMs may use it: online,
/// and not kept from them (cpu_isolation.h).
///
/// Firmware and kernels contradict themselves now and then. What does not fit is left out and
/// named, and the rest is read: a CPU that hwloc does not know, that is offline or that several
/// nodes list
/// (`numa=fake=`); a node of which the CPUs or the memory cannot be read. Old kernels have no list
/// of the nodes and masks for lists of CPUs; with those nothing is lost.
///
/// Terms. memoryless node: has CPUs only. CPU-less node: has memory only (CXL, HBM, a GPU's). A
/// generic initiator has a node without either.
///
/// Properties:
///  - every online node appears, by the kernel's number, or is named as left out;
///  - the distance matrix is complete, its columns being the nodes that appear, in the order of
///    their numbers; a row that cannot be read is Linux's default, 10 and 20;
///  - a CPU is in one node at most;
///  - what is left out depends on nothing but the files: two readings in a row that differ saw a
///    hot-plug.
#pragma once

#include <vector>

#include "placement/base/result.h"
#include "placement/model/sample.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

struct TopologyReading {
  placement::Topology topology;
  /// The files that could not be followed, each once, with what is left out therefore.
  std::vector<placement::MissingSource> left_out;
  bool operator==(const TopologyReading&) const = default;
};

/// `root` is the host's root directory. With another root than "/" see read_cpu_places() about
/// threads. A CPU-less node has package -1. Only pools with pages appear in `huge_pages`. Errors:
/// unsupported (a kernel without NUMA), corrupt (no node can be read), permission-denied, io.
[[nodiscard]] Result<TopologyReading> read_topology(const files::Directory& root);

}  // namespace vmnuma::stats
