// SPDX-License-Identifier: Apache-2.0
/// Restores the memory nodes that a VM was found with once its memory mode is no longer `mask`.
///
/// Problem: `mask` leaves a VM's set of nodes limited to its last homes. Approach: once the mode is
/// no longer `mask`, the nodes that the VM was found with are added to its set. Properties:
///  1. There are at most three attempts per process, thirty epochs apart; libvirt reports a
///     successful change long before the next attempt.
///  2. Nothing is done for a VM with mode mask, one left alone, or one with a transfer under way.
#pragma once

#include <cstdint>
#include <optional>

#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"
#include "migration/order.h"

namespace vmnuma::balancer {

/// Returns the change to request in this epoch, if any, and counts it in `managed`.
[[nodiscard]] std::optional<migration::VmChange> widen_memory_set(const VmRecord& vm,
                                                                  const Topology& topology,
                                                                  std::int64_t epoch,
                                                                  ManagedVm& managed);

}  // namespace vmnuma::balancer
