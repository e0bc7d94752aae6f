// SPDX-License-Identifier: Apache-2.0
/// What becomes of VMs whose pins are not those that were ordered.
///
/// Problem: administrators and other programs pin VMs as well, CPUs come and go under pins that
/// were right, and vCPUs are plugged in without any. Approach: every epoch each VM's pins, as
/// libvirt tells them, are compared with its homes; what differs is taken as somebody's will, and
/// respected or, if the configuration says so, repaired. Terms: *settled*, see controller.h;
/// *outdated*, see managed_vm.h.
/// Properties:
///  1. Nothing is concluded before a VM is settled, nor of one that was released or is confined.
///  2. A VM on one other whole node has its home there; one without pins is placed anew; any other
///  pins leave it alone until they are gone.
///  3. With `repairs` it is pinned home again, three times at most.
///  4. vCPUs that nobody has pinned yet are pinned home with all others of their VM.
///  5. Outdated pins are nobody's will: they are renewed.
///  6. On the only home pins say no more than none; only a CPU subset counts.
///  7. The spill of a VM that is pinned to its home only ends, the first three times.
///  8. A VM whose order the daemon died over has the homes that its pins tell after recovery.
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

/// How a VM's pins differ from its homes.
struct PinDifference {
  std::string external;   ///< how they differ if they fit no home at all; empty: they fit some
  bool homeless = false;  ///< some client has no home
  bool plugged = false;   ///< some client has vCPUs that nobody has pinned yet
  /// Clients that are pinned nowhere, or to another node than their home.
  std::vector<std::pair<placement::ClientId, PinState>> elsewhere;
};
[[nodiscard]] PinDifference compare_pins(const VmRecord& vm, const ManagedVm& managed,
                                         const PinReader& reader);

struct PinRules {
  bool repairs = false;  ///< VMs that are pinned elsewhere externally are pinned home
  bool acts = false;     ///< orders are given now
  std::int64_t epoch = 0;
};
/// All VMs in one epoch.
void reconcile_external_pinning(const PinRules& rules, const Ledger& ledger, ManagedVms& vms,
                                Homes& homes, Effects& effects);

/// By VM, by vCPU, the client that it is of.
using ClientGroups = std::map<placement::VmId, std::map<std::int32_t, std::size_t>>;
[[nodiscard]] ClientGroups client_groups(const Ledger& ledger);
/// VMs whose vCPUs make other clients now have the pins of the former ones: these are outdated.
void note_regrouped(const ClientGroups& before, const Ledger& ledger, std::int64_t epoch,
                    ManagedVms& vms);
/// The host's CPUs changed: the pins of all VMs that are managed are outdated.
void note_other_cpus(const Ledger& ledger, std::int64_t epoch, ManagedVms& vms);

}  // namespace vmnuma::balancer
