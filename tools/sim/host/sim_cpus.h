// SPDX-License-Identifier: Apache-2.0
/// How the kernel of a simulated host shares out the CPUs of one node for a while.
///
/// Approach: if every thread may run on all CPUs of the node, threads share the node's thread time
/// by weight; none gets more than one CPU or more than it wants (CFS with group weights, spread
/// perfectly over the CPUs of the node). Other load comes first. Time that is not given is waited
/// for. Threads that share cores get less done in their time (placement/capacity.h). If some thread
/// may not run everywhere, time is given out in small slices: the thread that has had least for its
/// weight takes one on the emptiest idle one of its CPUs, preferably on an idle core, and each core
/// is worth by itself what its busy threads leave of it. Properties: run time and other load
/// together are at most the thread time; no thread waits while a CPU that it may use is idle
/// (except for queueing()); no thread runs where it may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma::tools {

/// What the second thread of a simulated core really adds, whatever the balancer is told.
inline constexpr std::int64_t kSimSmtGainPct = 25;

struct ThreadDemand {
  std::int64_t weight = 1;  ///< at least 1
  CpuTime wants;            ///< at most the length of the while
};

struct NodeShares {
  std::vector<CpuTime> ran;  ///< in the order of the threads
  /// The core time that it was worth, per thread; empty: `served` / `busy` for all.
  std::vector<CpuTime> served_of;
  /// How long each thread ran on each CPU; empty: evenly on all.
  std::vector<std::vector<CpuTime>> on_cpu;
  CpuTime others;  ///< used by other load
  CpuTime busy;    ///< thread time that was used in total
  CpuTime served;  ///< what that is worth in core time
};

/// `cores` and `cpus` are the node's, `length` is the while, `others` what other load wants of it.
[[nodiscard]] NodeShares share_node(std::int32_t cores, std::int32_t cpus, CpuTime length,
                                    CpuTime others, const std::vector<ThreadDemand>& threads);

/// How long threads wait in run queues although all get what they want in the end, which the
/// kernel's run_delay counts like any other waiting: each wants its time at moments of its own, and
/// sometimes more of them at once than there are CPUs. In total, in addition to what does not fit
/// on average. `wants` is what each wants of `length`, including other load.
[[nodiscard]] CpuTime queueing(std::int32_t cpus, CpuTime length,
                               const std::vector<CpuTime>& wants);

/// A thread that may run on some of the node's CPUs only.
struct PinnedThread {
  ThreadDemand demand;
  std::vector<std::size_t> cpus;  ///< indices in `cores`; empty: on all
};

/// `cores` names the core of each CPU of the node.
[[nodiscard]] NodeShares share_cpus(const std::vector<std::int32_t>& cores, CpuTime length,
                                    CpuTime others, const std::vector<PinnedThread>& threads);

}  // namespace vmnuma::tools
