// SPDX-License-Identifier: Apache-2.0
/// Other kernel features that decide where threads run, and what they mean for pins and for
/// switching NUMA balancing off: sentences without their full stop.
#pragma once

#include <string>

#include "placement/model/sample.h"

namespace vmnuma::tools {

[[nodiscard]] std::string sched_ext_text(const SchedExt& scheduler);

/// Empty if the kernel does not have it. `is_numa_balancing`: kernel.numa_balancing is not 0.
[[nodiscard]] std::string cache_scheduling_text(CacheScheduling state, bool is_numa_balancing);

}  // namespace vmnuma::tools
