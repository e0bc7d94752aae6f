// SPDX-License-Identifier: Apache-2.0
/// Pins of a running VM's threads: read, made, and made again.
///
/// Terms: a *reset* thread may run wherever its cgroup lets threads run that nobody has pinned; the
/// kernel makes it so where a cpuset is written to (Linux 6.1; since 6.2 it remembers what was
/// asked for).
///
/// Properties:
///  - only what was reset is pinned again, not what somebody else has pinned since;
///  - a pin over every CPU is none.
#pragma once

#include <vector>

#include "balancer/qemu/known_vms.h"
#include "balancer/qemu/threads.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer::qemu {

/// The threads of this role and number; none if there are none.
[[nodiscard]] std::vector<std::int64_t> tids_of(const Threads& threads, ThreadKey key);

/// Pins all of `tids`. Threads that end meanwhile, and workers of the kernel among the emulator's
/// that nobody may bind, are passed over unless there are no others. Errors: as set_affinity();
/// what comes after the thread that failed is as it was.
[[nodiscard]] Result<void> pin_threads(const std::vector<std::int64_t>& tids,
                                       const std::vector<placement::CpuId>& cpus);

/// Fills in vCPUs and pins as they are now. The emulator's is that of the main thread `pid`, which
/// is also what a vCPU has that is plugged later. `online` are the host's CPUs.
void read_pins(const Threads& threads, std::int64_t pid,
               const std::vector<placement::CpuId>& online, placement::VmDescription& vm);

/// Pins again what is ours and was reset to `free`. Returns how many threads that were.
int restore_pins(const KnownVm& vm, const Threads& threads,
                 const std::vector<placement::CpuId>& free);

}  // namespace vmnuma::balancer::qemu
