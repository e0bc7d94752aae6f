// SPDX-License-Identifier: Apache-2.0
/// A VM whose memory mode was `mask` gets back the memory nodes that it was found with.
///
/// Problem: `mask` leaves a VM's set of nodes on its last homes. Approach: once it is masked no
/// longer, what was found is added to its set. Properties:
///  1. It is tried three times a process, thirty epochs apart: libvirt tells of the change long
///  before.
///  2. Nothing is done for a VM that is masked, left alone, or has pages on their way.
#pragma once

#include <cstdint>
#include <optional>

#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"
#include "migration/order.h"

namespace vmnuma::balancer {

/// The change to ask for in this epoch, if any, which is counted in `managed`.
[[nodiscard]] std::optional<migration::VmChange> widen_memory_set(
    const VmRecord& vm, const placement::Topology& topology, std::int64_t epoch,
    ManagedVm& managed);

}  // namespace vmnuma::balancer
