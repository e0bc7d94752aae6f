// SPDX-License-Identifier: Apache-2.0
/// What a VM's vCPUs did between two readings of their counters.
///
/// Problem: counters of two epochs belong together only if they are of the same threads of the same
/// process; a difference of any others is meaningless. Approach: every vCPU is paired by number and
/// thread id, and one that cannot be paired makes the whole VM unusable for the epoch.
///
/// Properties:
///  - a missing vCPU, another thread or a counter that went backwards is named, and nothing is
///    computed from it;
///  - counters are in ns, the differences in us, rounded down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

struct CpuUse {
  CpuTime run;
  CpuTime wait;  ///< runnable but not running
};

struct VmUsage {
  std::vector<CpuUse> groups;    ///< one per group of vCPUs asked for
  CpuTime throttled;             ///< by the VM's own quota, all vCPUs together
  std::string unusable_because;  ///< empty if the numbers can be used
};

/// Returns the use of one vCPU, or nothing if there are no two readings of the same thread.
[[nodiscard]] std::optional<CpuUse> use_of(std::int32_t vcpu, const VmSample& before,
                                           const VmSample& now);

/// Returns the use of each group of vCPUs between `before` and `now`, which must be of the same
/// process.
[[nodiscard]] VmUsage usage_between(const VmSample& before, const VmSample& now,
                                    const std::vector<std::vector<std::int32_t>>& groups);

}  // namespace vmnuma::balancer
