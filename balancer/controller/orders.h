// SPDX-License-Identifier: Apache-2.0
/// From an action of the plan to an order that the executor can carry out without further queries.
///
/// Properties: every vCPU of a moved client is pinned to exactly the usable CPUs of its new home,
/// or to the part given to it (cpu_pins.h); the emulator and the I/O threads are pinned to the VM's
/// reach; if only the CPUs within homes change, threads that already have the right pins are
/// omitted; vCPUs come first, then the emulator, then I/O threads; `before` is taken from the live
/// definition, so that undoing an order restores what was found; VMs that keep their memory in
/// place get no memory change.
#pragma once

#include <cstdint>

#include "balancer/controller/cpu_pins.h"
#include "balancer/core/ledger.h"
#include "migration/order.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Makes the order for `action`, which is from a plan made from `snapshot`; the ledger must still
/// contain the homes before it. `cpu_subsets` contains the VMs that do not get the whole of their
/// homes.
[[nodiscard]] migration::Order make_order(std::int64_t number, const Action& action,
                                          const Snapshot& snapshot, const Ledger& ledger,
                                          const std::map<VmId, VmCpus>& cpu_subsets);

}  // namespace vmnuma::balancer
