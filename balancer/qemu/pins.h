// SPDX-License-Identifier: Apache-2.0
/// Reads, makes and restores the pins of a running VM's threads.
///
/// Terms: a *reset* thread may run on all CPUs that its cgroup gives to threads without pins; the
/// kernel resets threads when a cpuset is written to (Linux 6.1; since 6.2 it remembers the
/// requested affinity).
///
/// Properties:
///  - only reset threads are pinned again, not those pinned externally since;
///  - a pin to all CPUs counts as none.
#pragma once

#include <vector>

#include "balancer/qemu/known_vms.h"
#include "balancer/qemu/threads.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer::qemu {

/// The threads meant by `thread`; empty if there are none.
[[nodiscard]] std::vector<std::int64_t> tids_of(const Threads& threads, migration::ThreadId thread);

/// Pins all of `tids`. Threads that end meanwhile, and kernel workers among the emulator's threads
/// that cannot be bound, are skipped unless there are no others. Errors: as set_affinity(); threads
/// after the one that failed are unchanged.
[[nodiscard]] Result<void> pin_threads(const std::vector<std::int64_t>& tids,
                                       const std::vector<CpuId>& cpus);

/// Fills in the current vCPUs and pins. The emulator's pin is that of the main thread `pid`, which
/// vCPUs plugged later inherit. `online` are the host's CPUs.
void read_pins(const Threads& threads, std::int64_t pid, const std::vector<CpuId>& online,
               VmDescription& vm);

/// Restores those of our pins that were reset to `free`. Returns the number of threads.
int restore_pins(const KnownVm& vm, const Threads& threads, const std::vector<CpuId>& free);

}  // namespace vmnuma::balancer::qemu
