// SPDX-License-Identifier: Apache-2.0
/// How the kernel of a simulated host shares out the CPUs of one node for a while.
///
/// Approach: where every thread may run on all CPUs of the node, threads share the node's thread
/// time by weight, none gets more than one CPU or more than it wants (CFS with group weights,
/// spread perfectly over the CPUs of the node). What others take comes first. Time that is not
/// given is waited for. Threads that share cores get less done in their time
/// (placement/capacity.h). Where some may not, time is given out in small slices: the thread that
/// has had least for its weight takes one on the emptiest of its CPUs that idles then, by
/// preference on a core of which no thread is busy, and each core is worth by itself what its busy
/// threads leave of it. Properties: what all ran and others took is at most the thread time; nobody
/// waits while a CPU that it may use is idle (but for queueing()); nobody runs where it may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma::tools {

/// What the second thread of a simulated core really adds, whatever the balancer is told.
inline constexpr std::int64_t kSimSmtGainPct = 25;

struct ThreadDemand {
  std::int64_t weight = 1;   ///< at least 1
  placement::CpuTime wants;  ///< at most the length of the while
};

struct NodeShares {
  std::vector<placement::CpuTime> ran;  ///< in the order of the threads
  /// What of it was worth in core time, thread by thread; empty: as `served` to `busy` for all.
  std::vector<placement::CpuTime> served_of;
  /// How long each thread ran on each CPU; empty: evenly on all.
  std::vector<std::vector<placement::CpuTime>> on_cpu;
  placement::CpuTime others;  ///< what others took
  placement::CpuTime busy;    ///< thread time that was used, by all
  placement::CpuTime served;  ///< what that is worth in core time
};

/// `cores` and `cpus` are the node's, `length` the while, `others` what others want of it.
[[nodiscard]] NodeShares share_node(std::int32_t cores, std::int32_t cpus,
                                    placement::CpuTime length, placement::CpuTime others,
                                    const std::vector<ThreadDemand>& threads);

/// What threads wait in run queues although all get what they want in the end, which the kernel's
/// run_delay counts like any other waiting: they want their time at moments of their own, and with
/// some chance more of them at once than there are CPUs. In all, beside what does not fit in the
/// mean. `wants` is what each wants of `length`, others included.
[[nodiscard]] placement::CpuTime queueing(std::int32_t cpus, placement::CpuTime length,
                                          const std::vector<placement::CpuTime>& wants);

/// A thread that may run on some of the node's CPUs only.
struct PinnedThread {
  ThreadDemand demand;
  std::vector<std::size_t> cpus;  ///< indices in `cores`; empty: on all
};

/// `cores` names the core of each CPU of the node.
[[nodiscard]] NodeShares share_cpus(const std::vector<std::int32_t>& cores,
                                    placement::CpuTime length, placement::CpuTime others,
                                    const std::vector<PinnedThread>& threads);

}  // namespace vmnuma::tools
