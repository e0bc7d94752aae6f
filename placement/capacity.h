// SPDX-License-Identifier: Apache-2.0
/// What a node can give when hardware threads share cores.
///
/// Problem: two busy threads on one core get much less than two cores would give. A balancer that
/// counts threads as cores packs a VM on hyper-threads to gain locality and loses half of its CPU.
/// Approach: demand up to the number of cores is served in full; what goes beyond shares cores and
/// is worth only `smt_gain` of itself, up to the number of threads. Properties: never more than the
/// demand; grows with the demand; never more than cores + gain x extra threads; without extra
/// threads or at a gain of 100 % it is min(demand, threads).
#pragma once

#include <cstdint>

#include "placement/model/amounts.h"

namespace vmnuma::placement {

/// A node's size for one epoch, in time.
struct Supply {
  CpuTime cores;    ///< physical cores x epoch
  CpuTime threads;  ///< logical CPUs x epoch, at least `cores`
  CpuTime non_vm;   ///< thread time that others take
  std::int64_t smt_gain_pct = 25;
};

/// Core time that `demand` of thread time gets from cores and threads, others ignored.
[[nodiscard]] CpuTime service(const Supply& supply, CpuTime demand);

/// Core time left for clients that together want `demand`, after what others take.
[[nodiscard]] CpuTime service_beside_others(const Supply& supply, CpuTime demand);

/// The most that clients can get: service of all threads less what others take.
[[nodiscard]] CpuTime capacity(const Supply& supply);

}  // namespace vmnuma::placement
