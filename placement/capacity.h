// SPDX-License-Identifier: Apache-2.0
/// What a node can give when hardware threads share cores.
///
/// Problem: two busy threads on one core get much less than two cores would give. A balancer that
/// counts threads as cores packs a VM on hyper-threads to gain locality and loses half of its CPU
/// time. Approach: busy time up to the number of cores counts in full; anything beyond that shares
/// cores and is worth only `smt_gain` of itself, up to the number of threads. The slow-down is
/// spread over all, because the kernel cannot tell which thread of a shared core is slowed down at
/// any moment: all busy threads of a node run at one *efficiency*, including work that is not a
/// VM's.
///
/// Terms: *thread time* - a logical CPU was busy. *Core time* - what that was worth.
///
/// Properties:
///  - never more than the demand;
///  - grows with the demand;
///  - never more than cores + gain x extra threads;
///  - without extra threads or at a gain of 100 % it is min(demand, threads);
///  - other work never helps.
#pragma once

#include <cstdint>

#include "placement/model/amounts.h"
#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma {

/// A node's size for one epoch, in time.
struct Supply {
  CpuTime cores;    ///< physical cores x epoch
  CpuTime threads;  ///< logical CPUs x epoch, at least `cores`
  CpuTime non_vm;   ///< thread time that other work takes
  std::int64_t smt_gain_pct = 25;
};

/// Returns what the node has for clients in this epoch.
[[nodiscard]] Supply supply_of(const NodeState& node, const Options& options);

/// Returns the core time that `demand` of thread time gets from cores and threads, ignoring other
/// work.
[[nodiscard]] CpuTime service(const Supply& supply, CpuTime demand);

/// Returns the thread time that other work leaves for clients.
[[nodiscard]] CpuTime threads_left(const Supply& supply);

/// Returns the core time that clients with a total demand of `demand` thread time get beside other
/// work.
[[nodiscard]] CpuTime service_beside_others(const Supply& supply, CpuTime demand);

/// Returns the most core time that clients can get: what all threads that other work leaves are
/// worth.
[[nodiscard]] CpuTime capacity(const Supply& supply);

}  // namespace vmnuma
