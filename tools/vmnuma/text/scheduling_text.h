// SPDX-License-Identifier: Apache-2.0
/// Describes other kernel features that decide where threads run, and their consequences for pins
/// and for disabling NUMA balancing. All are sentences without their full stop.
#pragma once

#include <string>

#include "placement/model/sample.h"

namespace vmnuma::tools {

[[nodiscard]] std::string sched_ext_text(const SchedExt& scheduler);

/// Returns a sentence; empty if the kernel does not have the feature. `is_numa_balancing`:
/// kernel.numa_balancing is not 0.
[[nodiscard]] std::string cache_scheduling_text(CacheScheduling state, bool is_numa_balancing);

}  // namespace vmnuma::tools
