// SPDX-License-Identifier: Apache-2.0
/// Chooses the node on which a floating thread runs, as the kernel of a simulated host does.
///
/// Problem: a host that is left alone is balanced neither perfectly nor immediately, and a floating
/// thread loses its caches. Approach: between nodes, do only what Linux 6.1's CFS does
/// (kernel/sched/fair.c and sd_init() in kernel/sched/topology.c), one while at a time; within a
/// node threads are spread perfectly (sim_cpus.h). Each pair of nodes has a domain, which consists
/// of all nodes that are no further apart; its weight is the number of its CPUs.
///  - A new thread starts on the least loaded node (find_idlest_group).
///  - An idle CPU looks for waiting threads in a domain every `weight` ms (min_interval). So a
///    thread that has waited for so long is pulled to a node with idle time, the nearest first. If
///    it would leave its preferred NUMA node, it is pulled only after three further looks:
///    cache_nice_tries = 2, and the one that is counted before these (migrate_degrades_locality).
///  - Nodes with idle CPUs are evened out by the number of idle CPUs: half of the difference moves,
///    unless the less busy node runs at most an eighth of its CPUs and that half is at most 2
///    (imb_numa_nr, NUMA_IMBALANCE_MIN).
///  - If no CPU is idle, CPUs look at intervals 16 times as long (busy_factor), and threads move
///    until the loads differ by less than 17 % (imbalance_pct).
///  - A thread returns to its preferred NUMA node as soon as a CPU is idle there, or swaps places
///    with a thread on it that prefers this node (task_numa_migrate).
///
/// Properties:
///  - a thread runs only where it may;
///  - equal calls give equal answers;
///  - no thread is moved if all nodes are equally loaded and no thread waits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/topology.h"
#include "tools/sim/scenario/random.h"

namespace vmnuma::tools {

struct FloatingThread {
  NodeIndex node = kNoNode;          ///< none: the thread has just started, or must leave
  CpuTime wants;                     ///< in this while
  CpuTime waited;                    ///< since it came to this node
  std::span<const NodeIndex> nodes;  ///< where it may run
  NodeIndex prefers = kNoNode;       ///< preferred by NUMA balancing; none: no preference
};

class SimLoadBalancer {
 public:
  explicit SimLoadBalancer(std::uint64_t seed) : random_(seed) {}

  /// Begins a while of this length. Changes `node` of the threads that move. `busy` is the sum of
  /// what threads want of each node, including those in `threads` that have a node.
  void pass(CpuTime length, const Topology& topology, std::vector<CpuTime> busy,
            std::vector<FloatingThread>& threads);

 private:
  Random random_;
  std::int64_t since_busy_look_us_ = 0;
};

}  // namespace vmnuma::tools
