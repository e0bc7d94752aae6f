// SPDX-License-Identifier: Apache-2.0
/// The memory state of a VM and of the slices above it, from the files of their cgroups.
#pragma once

#include "placement/base/result.h"
#include "placement/model/memory_state.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// The memory controller's settings for this cgroup. A host without swap accounting has no
/// memory.swap.max, which means no limit. Errors: those of Directory::read, corrupt.
[[nodiscard]] Result<MemoryLimits> read_memory_limits(const files::Directory& cgroup);

/// `scope` is the VM's, `process` its /proc/PID; `MemoryState::scope` and `read_in` are left to the
/// caller. A kernel without pressure stall information has no memory.pressure. Errors: as above.
[[nodiscard]] Result<MemoryState> read_memory_state(const files::Directory& scope,
                                                    const files::Directory& process);

}  // namespace vmnuma::stats
