// SPDX-License-Identifier: Apache-2.0
/// Where VMs live by what is known outside: pins that are found, and what the history remembers.
///
/// Problem: homes outlive the daemon in pins and in the history, and both must follow when homes
/// change for other reasons than an order. Approach: every such change passes here, so that
/// ledger, record and history agree. Terms: *remembered* - as the history has it. Properties:
///  1. A VM that is found pinned to whole nodes, or to what an order gave it, has these homes; one
///  that is pinned otherwise is left to others, unless the CPUs of its home have gone.
///  2. The history is told of homes only when they differ from what it has, and of nothing where
///  only one node can be a home.
///  3. A VM that was released is not looked at.
#pragma once

#include <cstdint>
#include <string>

#include "balancer/controller/events.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"

namespace vmnuma::balancer {

/// For the time of one event; `effects` are those of the event.
class Homes {
 public:
  Homes(Ledger& ledger, ManagedVms& vms, Effects& effects)
      : ledger_(ledger), vms_(vms), effects_(effects) {}

  /// Takes the homes over that the pins of a VM tell which has just been seen, or is managed again.
  void adopt_found(const placement::VmId& vm, std::int64_t epoch);
  /// The same of a VM whose pins were half made when they were read before.
  void adopt_recovered(const placement::VmId& vm, std::int64_t epoch);
  void adopt(const placement::ClientId& client, placement::NodeId node, std::string why);
  void give_up(const placement::ClientId& client) { ledger_.forget_home(client); }
  void give_up_all_of(const VmRecord& vm);
  /// Where only one node can be a home every VM lives there, pinned or not. That is nothing to be
  /// ordered, remembered or told.
  void settle_on_only_home();
  /// Gives up the VM's homes so that it is placed anew, where they were, with all its threads.
  void place_again(const VmRecord& vm, std::string because);
  /// Homes that were assumed - where nobody was pinned, or every VM lived on one node - are given
  /// up for those that the pins tell.
  void find_again();
  /// Its clients run at home only, and have what they are pinned to.
  void end_spills(const VmRecord& vm);
  /// The VM is pinned externally.
  void leave_to_others(const VmRecord& vm, std::string because);

  // What the history knows.
  void remember(const placement::ClientId& client, placement::NodeId home);
  void remember_all_of(const placement::VmId& vm);
  void forget_all_of(const placement::VmId& vm);

 private:
  Ledger& ledger_;
  ManagedVms& vms_;
  Effects& effects_;
};

}  // namespace vmnuma::balancer
