// SPDX-License-Identifier: Apache-2.0
/// Checks for the kernel features, other than NUMA nodes, that measuring and pinning VMs require.
///
/// They are defined in one place so that the daemon, which runs degraded without them, and `vmnuma
/// doctor`, which explains how to fix that, agree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/files/directory.h"

namespace vmnuma::stats {

/// Returns why cgroup v2 is missing or lacks controllers that libvirt and the readers of VMs need
/// (Linux 6.1, kernel/cgroup/cgroup.c), as a sentence without its full stop; nothing if all are
/// available. `root` is the host's root directory.
[[nodiscard]] std::optional<std::string> why_no_cgroup(const files::Directory& root);

/// Likewise for the CPU and waiting times of threads (Linux 6.1, fs/proc/base.c:
/// CONFIG_SCHED_INFO).
[[nodiscard]] std::optional<std::string> why_no_schedstat(const files::Directory& root);

struct HostLack {
  std::string_view source;  ///< "cgroup", "schedstat"; also the names of doctor's checks
  std::string reason;
};

/// Returns everything that is missing. None of it changes while a kernel runs.
[[nodiscard]] std::vector<HostLack> host_lacks(const files::Directory& root);

}  // namespace vmnuma::stats
