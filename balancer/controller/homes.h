// SPDX-License-Identifier: Apache-2.0
/// Homes as they are visible outside: in pins that are found, and in the history.
///
/// Problem: homes outlive the daemon in pins and in the history, and both must be updated when
/// homes change for other reasons than an order. Approach: every such change goes through here, so
/// that ledger, record and history agree. Terms: *remembered* - as stored in the history.
/// Properties:
///  1. A VM found pinned to whole nodes, or to what an order gave it, has these homes; one with
///     other pins is left alone, unless the CPUs of its home have gone.
///  2. Homes are written to the history only when they differ from it, and never if only one node
///     can be a home.
///  3. A released VM is ignored.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/controller/events.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"

namespace vmnuma::balancer {

/// Exists for the duration of one event; `effects` are those of the event.
class Homes {
 public:
  Homes(Ledger& ledger, ManagedVms& vms, Effects& effects)
      : ledger_(ledger), vms_(vms), effects_(effects) {}

  /// Adopts the homes shown by the pins of a VM that was just discovered, or is managed again.
  void adopt_found(const VmId& vm, std::int64_t epoch);
  /// Does the same for a VM whose pins were half made when they were last read.
  void adopt_recovered(const VmId& vm, std::int64_t epoch);
  void adopt(const ClientId& client, NodeId node, std::string why);
  void give_up(const ClientId& client) { ledger_.forget_home(client); }
  void give_up_homes_of(const VmRecord& vm);
  /// If only one node can be a home, makes it the home of every VM, pinned or not. That is neither
  /// ordered, remembered nor logged.
  void settle_on_only_home();
  /// Gives up the VM's homes so that it is placed again, on the same nodes, with all its threads.
  void place_again(const VmRecord& vm, std::string because);
  /// Replaces assumed homes by those that the pins show. Homes are assumed while no VM is pinned,
  /// or while only one node can be a home. The homes of an order stay until its pins are known.
  void find_again(std::int64_t epoch);
  /// Ends the spills of the VM's clients: they run at home only, and their current pins count as
  /// given.
  void end_spills(const VmRecord& vm);
  /// Leaves the VM alone because it is pinned externally.
  void leave_to_others(const VmRecord& vm, std::string because);

  // Homes in the history.
  void remember(const ClientId& client, NodeId home);
  void remember_homes_of(const VmId& vm);
  void forget_all_of(const VmId& vm);

 private:
  Ledger& ledger_;
  ManagedVms& vms_;
  Effects& effects_;
};

}  // namespace vmnuma::balancer
