// SPDX-License-Identifier: Apache-2.0
/// Checks what, apart from pins, decides where threads of VMs run. `root` is the host's root
/// directory. Each check yields exactly one finding.
#pragma once

#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// Checks the kernel's own NUMA balancing (Linux 6.1, kernel/sched/core.c: sysctl numa_balancing).
[[nodiscard]] Finding check_kernel_balancing(const files::Directory& root);
/// Checks for a sched_ext scheduler (stats/linux/kernel_scheduling.h).
[[nodiscard]] Finding check_sched_ext(const files::Directory& root);
/// Checks for cache-aware scheduling (likewise), and its state without NUMA balancing.
[[nodiscard]] Finding check_cache_scheduling(const files::Directory& root);
/// Checks for CPUs that VMs may not use (stats/topology/cpu_isolation.h), and for those that only
/// seem to be such.
[[nodiscard]] Finding check_isolation(const files::Directory& root);

}  // namespace vmnuma::tools
