// SPDX-License-Identifier: Apache-2.0
/// Simulates how the kernel distributes the CPU time of one node for a while.
///
/// Approach: if every thread may run on all CPUs of the node, threads share the node's thread time
/// by weight; none gets more than one CPU or more than it wants (CFS with group weights, spread
/// perfectly over the CPUs of the node). Other load comes first. A thread waits for time that it
/// does not get. Threads that share cores get less done in their time (placement/capacity.h). If
/// some thread may not run everywhere, time is given out in small slices: the thread that has had
/// the least time relative to its weight takes a slice on the least used idle one of its CPUs,
/// preferably on an idle core, and the work done is computed core by core, according to how many
/// threads of the core were busy.
///
/// Properties:
///  - run time and other load together are at most the thread time;
///  - no thread waits while a CPU that it may use is idle (except for queueing());
///  - no thread runs where it may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma::tools {

/// What the second thread of a simulated core really adds, whatever the balancer's configuration
/// says.
inline constexpr std::int64_t kSimSmtGainPct = 25;

struct ThreadDemand {
  std::int64_t weight = 1;             ///< at least 1
  CpuTime wants;                       ///< at most the length of the while
  std::vector<std::size_t> cpus = {};  ///< the CPUs of the node that it may use; empty: all
};

struct NodeShares {
  std::vector<CpuTime> ran;  ///< in the order of the threads
  /// The core time that `ran` was worth, per thread; empty: `served` / `busy` for all.
  std::vector<CpuTime> served_of;
  /// How long each thread ran on each CPU; empty: evenly on all.
  std::vector<std::vector<CpuTime>> on_cpu;
  CpuTime others;  ///< used by other load
  CpuTime busy;    ///< thread time that was used in total
  CpuTime served;  ///< what `busy` is worth in core time
};

/// Distributes the time of a node with `cores` cores and `cpus` CPUs, all of which every thread may
/// use. `length` is that of the while, `others` what other load wants of it.
[[nodiscard]] NodeShares share_node(std::int32_t cores, std::int32_t cpus, CpuTime length,
                                    CpuTime others, const std::vector<ThreadDemand>& threads);

/// Returns how long threads wait in run queues although all get what they want in the end: each
/// wants its time at different moments, and sometimes more threads are runnable than there are
/// CPUs. The kernel's run_delay counts this like any other waiting. The result is the total for all
/// threads, in addition to the time that does not fit on average. `wants` is what each thread wants
/// of `length`, including other load.
[[nodiscard]] CpuTime queueing(std::int32_t cpus, CpuTime length,
                               const std::vector<CpuTime>& wants);

/// Distributes the time of a node with threads that may use only some of its CPUs. `cores` names
/// the core of each CPU of the node.
[[nodiscard]] NodeShares share_cpus(const std::vector<std::int32_t>& cores, CpuTime length,
                                    CpuTime others, const std::vector<ThreadDemand>& threads);

}  // namespace vmnuma::tools
