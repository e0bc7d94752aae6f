// SPDX-License-Identifier: Apache-2.0
/// Which CPUs of their homes VMs have now, and which ones they should get.
///
/// Problem: CPUs within homes (cpu_pins.h) exist only in the pins of threads, and change when VMs
/// with cores of their own come, go or move. Approach: the CPUs given by an order are recorded when
/// it is given, recognised after a restart, and compared with the assignment every epoch.
/// Properties:
///  1. Pins that no order made are not recognised.
///  2. If the CPUs of a VM at home change there, a separate action pins it to them, once none of
///     its clients is being moved.
///  3. A VM that rests, is left alone or has a refused policy keeps its pins.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/controller/cpu_pins.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// True if the VM's pins may be changed in this epoch, provided that orders are given at all.
[[nodiscard]] bool may_be_pinned(const VmRecord& vm, const ManagedVm& managed, std::int64_t epoch);

/// A client's home according to pins that an order made.
struct FoundHome {
  NodeId home;
  NodeId spills_to;  ///< value -1: it is pinned to (a part of) its home only
};
/// Finds the home of a client without one that is pinned to what an order gave it: a part of one
/// node, or its remembered home and a second node. Records that as its CPU subset.
[[nodiscard]] std::optional<FoundHome> find_cpu_subset(const VmRecord& vm, std::size_t client,
                                                       const Topology& topology,
                                                       ManagedVm& managed);

/// Records the effect of an action on a VM's threads. Its clients already have their new homes.
void record_cpu_subset(const Action& action, const VmRecord& vm, const Topology& topology,
                       const CpuPins& pins, ManagedVm& managed);

/// Returns actions for VMs that stay at home but should run on other CPUs of it.
[[nodiscard]] std::vector<Action> cpu_assignments(const Snapshot& snapshot, const Ledger& ledger,
                                                  const ManagedVms& vms, const CpuPins& pins);

/// Reports to the ledger which cores belong to a single client: they are not capacity for any
/// other.
void count_exclusive_cores(const CpuPins& pins, Ledger& ledger);

}  // namespace vmnuma::balancer
