// SPDX-License-Identifier: Apache-2.0
/// Simulates what neighbours on a last-level cache cost each other.
///
/// Problem: a VM whose data fit in the cache loses them to one that sweeps through memory on the
/// next core, and the kernel spreads threads over all caches of a node. Approach: while threads of
/// other VMs wait for memory, they evict lines from the caches they run on; a thread's own waiting
/// grows by the share of its caches' time in which they do so. If a node has only one cache, this
/// cannot be avoided, and it is included in the VM's `stall`.
///
/// Properties:
///  - threads of one VM cost each other nothing;
///  - a thread that does not wait for memory costs other threads nothing and pays nothing;
///  - a thread's waiting at most doubles (kMostCrowding). The amount is assumed, not measured on
///    any machine.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma::tools {

/// By how much waiting grows if other VMs on a cache wait for memory all the time.
inline constexpr Permille kMostCrowding{1000};

/// A thread on one node for a while.
struct CacheUse {
  std::size_t vm = 0;             ///< threads of one VM have the same number
  Permille stall;                 ///< of its time, waiting for memory
  std::vector<CpuTime> on_cache;  ///< how long it ran on the CPUs of each cache
};

/// Returns by how much each thread's waiting grows, in the order of `threads`. `time` is the time
/// of each cache's CPUs.
[[nodiscard]] std::vector<Permille> crowding(const std::vector<CacheUse>& threads,
                                             const std::vector<CpuTime>& time);

}  // namespace vmnuma::tools
