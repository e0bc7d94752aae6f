// SPDX-License-Identifier: Apache-2.0
/// What the kernel must offer for VMs to be measured and pinned, beside their nodes.
///
/// Said in one place, so that the daemon, which is degraded without, and `vmnuma doctor`, which
/// says how it is mended, mean the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stats/files/directory.h"

namespace vmnuma::stats {

/// `root` is the host's root directory. Why there is no cgroup v2 with the controllers that libvirt
/// and the readers of VMs need (Linux 6.1, kernel/cgroup/cgroup.c); nothing if there is. A sentence
/// without its full stop.
[[nodiscard]] std::optional<std::string> why_no_cgroup(const files::Directory& root);

/// The same of threads' CPU and waiting time (Linux 6.1, fs/proc/base.c: CONFIG_SCHED_INFO).
[[nodiscard]] std::optional<std::string> why_no_schedstat(const files::Directory& root);

struct HostLack {
  std::string_view source;  ///< "cgroup", "schedstat"; also the names of doctor's checks
  std::string reason;
};

/// All that is missing. None of it comes or goes while a kernel runs.
[[nodiscard]] std::vector<HostLack> host_lacks(const files::Directory& root);

}  // namespace vmnuma::stats
