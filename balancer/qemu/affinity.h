// SPDX-License-Identifier: Apache-2.0
/// Gets and sets the CPUs that a thread may run on (sched_setaffinity(2)).
#pragma once

#include <cstdint>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer::qemu {

/// The thread's CPUs, ascending, without offline ones. Errors: vanished (the thread has ended), io.
[[nodiscard]] Result<std::vector<CpuId>> affinity_of(std::int64_t tid);

/// Sets the thread's CPUs. `cpus` must be ascending and not empty. Errors: vanished,
/// invalid-argument (its cgroup allows none of them, or it is a thread that cannot be bound),
/// permission-denied (CAP_SYS_NICE is missing), io.
[[nodiscard]] Result<void> set_affinity(std::int64_t tid, const std::vector<CpuId>& cpus);

}  // namespace vmnuma::balancer::qemu
