// SPDX-License-Identifier: Apache-2.0
/// Detects kernel features other than NUMA balancing that decide where threads run.
///
/// Sources: sys/kernel/sched_ext (Linux 6.12, Documentation/scheduler/sched-ext.rst and
/// kernel/sched/ext.c: state is "enabling", "enabled", "disabling" or "disabled", switch_all 0 or
/// 1, root/ops the scheduler's name), and for cache-aware scheduling (Linux 7.2,
/// kernel/sched/debug.c) sys/kernel/debug/sched/llc_balancing/enabled, which only root can read, or
/// else the kernel's configuration, boot/config-RELEASE.
///
/// A feature that cannot be read counts as absent: no decision depends on it. `root` is the host's
/// root directory.
#pragma once

#include <optional>

#include "placement/model/sample.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// Returns the active sched_ext scheduler; nothing if there is none.
[[nodiscard]] std::optional<SchedExt> read_sched_ext(const files::Directory& root);

/// Returns whether the kernel has cache-aware scheduling, which does not change while it runs. May
/// read a file of 300 KiB.
[[nodiscard]] bool has_cache_scheduling(const files::Directory& root);

/// Call only if has_cache_scheduling().
[[nodiscard]] CacheScheduling read_cache_scheduling(const files::Directory& root);

}  // namespace vmnuma::stats
