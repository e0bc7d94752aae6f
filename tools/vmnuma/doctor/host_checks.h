// SPDX-License-Identifier: Apache-2.0
/// Checks what vmnuma needs from the kernel, from the host's files. `root` is the host's root
/// directory. Each check yields exactly one finding.
#pragma once

#include <vector>

#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// Checks the nodes: how many there are, and which lack CPUs or memory (Linux 6.1,
/// drivers/base/node.c).
[[nodiscard]] Finding check_nodes(const files::Directory& root);
/// Checks the nodes' distances: on a host without them all nodes seem to be equally far away.
[[nodiscard]] Finding check_distances(const files::Directory& root);
/// Checks for nodes and CPUs that are left out because their data are inconsistent, and for special
/// hardware among the rest (stats/topology).
[[nodiscard]] Finding check_topology(const files::Directory& root);
/// Checks for cgroup v2 with the controllers that libvirt needs (Linux 6.1,
/// kernel/cgroup/cgroup.c).
[[nodiscard]] Finding check_cgroup(const files::Directory& root);
/// Checks for the CPU and waiting times of threads (Linux 6.1, fs/proc/base.c: CONFIG_SCHED_INFO).
[[nodiscard]] Finding check_schedstat(const files::Directory& root);
/// Checks for pressure stall information (Linux 6.1, kernel/sched/psi.c: CONFIG_PSI, psi=1).
[[nodiscard]] Finding check_pressure(const files::Directory& root);
/// Checks what, apart from the CPUs, prevents the daemon from counting how often VMs read memory
/// (stats/perf/perf_counters.h).
[[nodiscard]] Finding check_counters(const files::Directory& root);

/// Runs all of these checks, and those of scheduling_checks.h.
[[nodiscard]] std::vector<Finding> check_host(const files::Directory& root);

}  // namespace vmnuma::tools
