// SPDX-License-Identifier: Apache-2.0
/// What the kernel must offer for measuring and pinning VMs, apart from NUMA nodes.
///
/// Defined in one place, so that the daemon, which is degraded without it, and `vmnuma doctor`,
/// which says how to fix it, agree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/files/directory.h"

namespace vmnuma::stats {

/// `root` is the host's root directory. Why cgroup v2 is missing or lacks controllers that libvirt
/// and the readers of VMs need (Linux 6.1, kernel/cgroup/cgroup.c); nothing if all are there. A
/// sentence without its full stop.
[[nodiscard]] std::optional<std::string> why_no_cgroup(const files::Directory& root);

/// Likewise for threads' CPU and waiting time (Linux 6.1, fs/proc/base.c: CONFIG_SCHED_INFO).
[[nodiscard]] std::optional<std::string> why_no_schedstat(const files::Directory& root);

struct HostLack {
  std::string_view source;  ///< "cgroup", "schedstat"; also the names of doctor's checks
  std::string reason;
};

/// Everything that is missing. None of it changes while a kernel runs.
[[nodiscard]] std::vector<HostLack> host_lacks(const files::Directory& root);

}  // namespace vmnuma::stats
