// SPDX-License-Identifier: Apache-2.0
/// What else in the kernel decides where threads run, and what that means for pins and for
/// switching its NUMA balancing off: sentences without their full stop.
#pragma once

#include <string>

#include "placement/model/sample.h"

namespace vmnuma::tools {

[[nodiscard]] std::string sched_ext_text(const placement::SchedExt& scheduler);

/// Empty if the kernel has none. `is_numa_balancing`: kernel.numa_balancing is not 0.
[[nodiscard]] std::string cache_scheduling_text(placement::CacheScheduling state,
                                                bool is_numa_balancing);

}  // namespace vmnuma::tools
