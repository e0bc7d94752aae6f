// SPDX-License-Identifier: Apache-2.0
/// What vmnuma needs of the kernel, read from the host's files. `root` is the host's root
/// directory. Each check yields exactly one finding.
#pragma once

#include <vector>

#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// The nodes: how many, and which lack CPUs or memory (Linux 6.1, drivers/base/node.c).
[[nodiscard]] Finding check_nodes(const files::Directory& root);
/// Their distances: a host without distances looks as if all nodes were equally far.
[[nodiscard]] Finding check_distances(const files::Directory& root);
/// Nodes and CPUs that are left out because their data are inconsistent, and special hardware among
/// the rest (stats/topology).
[[nodiscard]] Finding check_topology(const files::Directory& root);
/// cgroup v2 with the controllers that libvirt needs for it (Linux 6.1, kernel/cgroup/cgroup.c).
[[nodiscard]] Finding check_cgroup(const files::Directory& root);
/// CPU and waiting time of threads (Linux 6.1, fs/proc/base.c: CONFIG_SCHED_INFO).
[[nodiscard]] Finding check_schedstat(const files::Directory& root);
/// Pressure stall information (Linux 6.1, kernel/sched/psi.c: CONFIG_PSI, psi=1).
[[nodiscard]] Finding check_pressure(const files::Directory& root);
/// What other than the CPUs keeps the daemon from counting how often VMs read memory
/// (stats/perf/perf_counters.h).
[[nodiscard]] Finding check_counters(const files::Directory& root);

/// All of these, and those of scheduling_checks.h.
[[nodiscard]] std::vector<Finding> check_host(const files::Directory& root);

}  // namespace vmnuma::tools
