// SPDX-License-Identifier: Apache-2.0
/// What other than pins decides where threads of VMs run. `root` is the host's root directory. Each
/// check yields exactly one finding.
#pragma once

#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// The kernel's own NUMA balancing (Linux 6.1, kernel/sched/core.c: sysctl numa_balancing).
[[nodiscard]] Finding check_kernel_balancing(const files::Directory& root);
/// A sched_ext scheduler (stats/linux/kernel_scheduling.h).
[[nodiscard]] Finding check_sched_ext(const files::Directory& root);
/// Cache-aware scheduling (likewise), and its state without NUMA balancing.
[[nodiscard]] Finding check_cache_scheduling(const files::Directory& root);
/// CPUs that are reserved from VMs (stats/topology/cpu_isolation.h), and those that only seem so.
[[nodiscard]] Finding check_isolation(const files::Directory& root);

}  // namespace vmnuma::tools
