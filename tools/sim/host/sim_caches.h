// SPDX-License-Identifier: Apache-2.0
/// What neighbours on a last-level cache cost on a simulated host.
///
/// Problem: a VM whose data fit the cache loses it to one that sweeps through memory on the next
/// core, and the kernel spreads threads over all caches of a node. Approach: what others' threads
/// wait for memory pushes lines out of the caches they run on; a thread's own waiting grows by the
/// share of its caches' time that they do so. Where a node has one cache nothing can be done about
/// it, and it is in the VM's `stall` already.
///
/// Properties:
///  - threads of one VM cost each other nothing;
///  - who waits for no memory costs nobody anything and pays nothing;
///  - nobody's waiting more than doubles (kMostCrowding). How much it grows is assumed, not
///    measured on any machine.
#pragma once

#include <cstddef>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma::tools {

/// What waiting grows by if others wait for memory on a cache all the time.
inline constexpr placement::Permille kMostCrowding{1000};

/// A thread on one node for a while.
struct CacheUse {
  std::size_t vm = 0;                        ///< threads of one VM have the same number
  placement::Permille stall;                 ///< of its time, waiting for memory
  std::vector<placement::CpuTime> on_cache;  ///< how long it ran on the CPUs of each
};

/// By how much each thread's waiting grows, in the order of `threads`. `time` is that of each
/// cache's CPUs.
[[nodiscard]] std::vector<placement::Permille> crowding(
    const std::vector<CacheUse>& threads, const std::vector<placement::CpuTime>& time);

}  // namespace vmnuma::tools
