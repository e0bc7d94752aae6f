// SPDX-License-Identifier: Apache-2.0
/// Which CPUs of their homes VMs have by now, and which ones they are to get.
///
/// Problem: CPUs within homes (cpu_pins.h) are nowhere but in the pins of threads, and change when
/// VMs with cores of their own come, go or move. Approach: what an order gives is noted as it is
/// given, found again after a restart, and compared with the assignment every epoch. Properties:
///  1. What no order gave is not found again.
///  2. A VM at home whose CPUs there change is pinned to them by an action of its own, once none of
///  its clients is being moved.
///  3. A VM that rests, is left alone or whose policy is refused keeps its pins.
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

/// The host with these relocations made.
[[nodiscard]] CpuPins cpu_pins(const Ledger& ledger, const ManagedVms& vms,
                               const std::vector<placement::Relocation>& relocations);

/// True if the VM's pins may be changed in this epoch, where orders are given at all.
[[nodiscard]] bool may_be_pinned(const VmRecord& vm, const ManagedVm& managed, std::int64_t epoch);

/// Where a client lives by pins that an order gave it.
struct FoundHome {
  placement::NodeId home;
  placement::NodeId spills_to;  ///< value -1: it is pinned to (a part of) its home only
};
/// Of a client without a home, if an order gave it what it is pinned to: a part of one node, or its
/// remembered home and a second node. It is noted as its CPU subset.
[[nodiscard]] std::optional<FoundHome> find_cpu_subset(const VmRecord& vm, std::size_t client,
                                                       const placement::Topology& topology,
                                                       ManagedVm& managed);

/// Notes what an action makes of a VM's threads. Its clients have their new homes by now.
void note_cpu_subset(const placement::Action& action, const VmRecord& vm,
                     const placement::Topology& topology, const CpuPins& pins, ManagedVm& managed);

/// For VMs that stay at home but shall run on other CPUs of it.
[[nodiscard]] std::vector<placement::Action> cpu_assignments(const placement::Snapshot& snapshot,
                                                             const Ledger& ledger,
                                                             const ManagedVms& vms,
                                                             const CpuPins& pins);

/// Tells the ledger which cores belong to a client alone: they are no other's capacity.
void count_exclusive_cores(const CpuPins& pins, Ledger& ledger);

}  // namespace vmnuma::balancer
