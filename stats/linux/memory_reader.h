// SPDX-License-Identifier: Apache-2.0
/// Reads the memory state of a VM and of the slices above it from the files of their cgroups.
#pragma once

#include "placement/base/result.h"
#include "placement/model/memory_state.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// Reads the memory controller's settings for this cgroup. A host without swap accounting has no
/// memory.swap.max, which means no limit. Errors: those of Directory::read, corrupt.
[[nodiscard]] Result<MemoryLimits> read_memory_limits(const files::Directory& cgroup);

/// Reads the memory state of a VM. `scope` is its cgroup, `process` its /proc/PID. Leaves
/// `MemoryState::scope` and `read_in` for the caller to fill in. A kernel without pressure stall
/// information has no memory.pressure. Errors: as above.
[[nodiscard]] Result<MemoryState> read_memory_state(const files::Directory& scope,
                                                    const files::Directory& process);

}  // namespace vmnuma::stats
