// SPDX-License-Identifier: Apache-2.0
/// Places a simulated VM's memory on nodes, without explicit moves.
///
/// Approach: a VM that is found running has its memory where the scenario says; further pages are
/// touched as its vCPUs run, on their nodes or by its numatune mode; and if the kernel's automatic
/// NUMA balancing is on, hinting faults bring pages to the vCPUs that use them
/// (sim_numa_scanner.h). Property: memory is only where the VM's memory policy and cpuset allow it.
#pragma once

#include "tools/sim/host/host_state.h"

namespace vmnuma::tools {

/// Gives the VM its initial memory, from the scenario.
void fill_memory(HostState& host, SimVm& vm);

/// Allocates the pages that its vCPUs touched for the first time while they ran.
void touch_memory(HostState& host, SimVm& vm);

/// Lets the kernel balance the VM's memory from now on, if it may move.
void balance_memory(const HostState& host, SimVm& vm);

/// Simulates one while of the kernel's balancing, if it is on for the VM.
void scan_memory(HostState& host, SimVm& vm, CpuTime length);

}  // namespace vmnuma::tools
