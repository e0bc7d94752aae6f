// SPDX-License-Identifier: Apache-2.0
/// How a simulated VM's memory comes to lie where it does, without anybody's call.
///
/// Approach: a VM that is found running has its memory where the scenario says; further pages are
/// touched as its vCPUs run, on their nodes or by its numatune mode; and where the kernel's
/// automatic NUMA balancing is on, hinting faults bring pages to those who use them
/// (sim_numa_scanner.h). Properties: memory is only where the VM's memory policy and cpuset let it
/// be.
#pragma once

#include "tools/sim/host/host_state.h"

namespace vmnuma::tools {

/// As the scenario has the VM at its start.
void fill_memory(HostState& host, SimVm& vm);

/// What its vCPUs touch first in the time that they ran.
void touch_memory(HostState& host, SimVm& vm);

/// The kernel balances the VM's memory from now on, if that may move.
void balance_memory(const HostState& host, SimVm& vm);

/// A while in which the kernel balances it, if it does.
void scan_memory(HostState& host, SimVm& vm, placement::CpuTime length);

}  // namespace vmnuma::tools
