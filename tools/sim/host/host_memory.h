// SPDX-License-Identifier: Apache-2.0
/// How a simulated VM's memory gets to its nodes without explicit moves.
///
/// Approach: a VM that is found running has its memory where the scenario says; further pages are
/// touched as its vCPUs run, on their nodes or by its numatune mode; and if the kernel's automatic
/// NUMA balancing is on, hinting faults bring pages to the vCPUs that use them
/// (sim_numa_scanner.h). Properties: memory is only where the VM's memory policy and cpuset allow
/// it.
#pragma once

#include "tools/sim/host/host_state.h"

namespace vmnuma::tools {

/// The initial memory of the VM, from the scenario.
void fill_memory(HostState& host, SimVm& vm);

/// Pages that its vCPUs touch for the first time while they ran.
void touch_memory(HostState& host, SimVm& vm);

/// From now on the kernel balances the VM's memory, if that may move.
void balance_memory(const HostState& host, SimVm& vm);

/// One while of the kernel's balancing, if it is on for the VM.
void scan_memory(HostState& host, SimVm& vm, CpuTime length);

}  // namespace vmnuma::tools
