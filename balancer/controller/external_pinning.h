// SPDX-License-Identifier: Apache-2.0
/// Handling of VMs with pins other than those ordered.
///
/// Problem: administrators and other programs pin VMs as well, the host's CPUs come and go while
/// pins refer to them, and vCPUs are hot-plugged without pins. Approach: every epoch each VM's
/// pins, as libvirt reports them, are compared with its homes; a difference is assumed to be
/// intended and is respected or, if configured so, repaired. Terms: *settled*, see controller.h;
/// *outdated*, see managed_vm.h.
/// Properties:
///  1. Nothing is concluded about a VM that is not settled, was released or is confined.
///  2. A VM pinned to one other whole node gets its home there; one without pins is placed again;
///     with any other pins it is left alone until they are gone.
///  3. With `repairs` it is pinned home again, three times at most; the count is halved after every
///     hour without a repair.
///  4. vCPUs that have not been pinned yet are pinned home with all others of their VM; a VM that
///     must not move keeps its homes for this, whatever room they have.
///  5. Outdated pins are not an external decision: they are renewed.
///  6. If only one node can be a home, pins to it count as no pins; only a CPU subset matters.
///  7. If a spilling VM is pinned to its home only, its spill ends, the first three times.
///  8. If the daemon died during a VM's order, the VM gets the homes that its pins show after
///     recovery.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "balancer/controller/events.h"
#include "balancer/controller/found_pins.h"
#include "balancer/controller/homes.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"

namespace vmnuma::balancer {

struct PinRules {
  bool repairs = false;  ///< VMs pinned elsewhere externally are pinned home again
  bool acts = false;     ///< orders are currently given
  bool places = false;   ///< plans give VMs homes and CPUs (Numa.RebalanceEnable)
  std::int64_t epoch = 0;
};
/// Processes all VMs in one epoch.
void reconcile_external_pinning(const PinRules& rules, const Ledger& ledger, ManagedVms& vms,
                                Homes& homes, Effects& effects);

/// By VM, then by vCPU: the index of its client.
using ClientGroups = std::map<VmId, std::map<std::int32_t, std::size_t>>;
[[nodiscard]] ClientGroups client_groups(const Ledger& ledger);
/// Marks the pins of VMs as outdated if vCPUs now belong to other clients: they still have the pins
/// of the former ones.
void record_regrouped(const ClientGroups& before, const Ledger& ledger, std::int64_t epoch,
                      ManagedVms& vms);
/// Marks the pins of all managed VMs as outdated, because the host's CPUs have changed.
void record_other_cpus(const Ledger& ledger, std::int64_t epoch, ManagedVms& vms);

}  // namespace vmnuma::balancer
