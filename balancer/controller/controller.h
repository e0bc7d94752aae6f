// SPDX-License-Identifier: Apache-2.0
/// The balancer as a machine: events in, effects out, nothing else.
///
/// Problem: decisions must be the same live, in the simulator and in a replay, and testable without
/// a host. Approach: everything that happens is an Event; what it leads to is returned as Effects.
/// The controller keeps the ledger, the homes, the actions under way and what it needs to explain
/// itself. libvirt's events only change what the ledger knows; decisions are taken when an epoch's
/// sample arrives.
///
/// Terms: *settled* - no order of the VM has been under way for kSettledAfter epochs, so that its
/// pins, as libvirt tells them, are what they will stay.
///
/// Properties:
///  - equal events give equal effects;
///  - outside active mode no order is given; placements are kept as assumptions in dry-run and
///    observe;
///  - an order that ended undone or dropped leaves the homes as they were before it; its VM then
///    rests for a time that doubles with every failure;
///  - pins that were changed externally are respected: one whole node becomes the home; any other
///    narrow set, and for a VM that was given a part of its home also the whole of it, takes the VM
///    out of management until the pins are gone; no pins at all let it be placed anew, three times
///    at most;
///  - of a plan that breaks a rule (core/validator.h) nothing is carried out;
///  - a VM that was released is as it was found, and is left alone until it is managed again or its
///    process is a new one;
///  - a policy in a domain's metadata that is wrong anywhere counts nowhere: the VM keeps that of
///    the configuration and is left where it is until the metadata is mended;
///  - a VM at home whose CPUs there change is pinned to them by an order of its own;
///  - while libvirt or the executor does not answer, or paused, nothing is ordered and everything
///    is still measured;
///  - where only one node can be a home no VM is placed or pinned, unless a policy asks for CPUs of
///    its own, and no home is remembered;
///  - pins that stopped fitting because CPUs went or came, or because the VM has other clients now,
///    do not count as external: a VM whose home is gone is placed elsewhere, one whose home has
///    other CPUs is pinned to them;
///  - under a load that does not change it comes to rest: no order, no home to remember, nothing to
///    log. Only turns on an overloaded host (Numa.LTermFairnessInterval) never end;
///  - no VM is kept from starting unless the mode is active and `admission` is enforce;
///  - memory limits of a VM are changed only if its policy has a memory_class, Numa.MemQosEnable is
///    1 and the mode is active.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "balancer/controller/controller_state.h"
#include "balancer/controller/events.h"

namespace vmnuma::balancer {

/// What the next plan would be made from.
struct Outlook {
  placement::Snapshot snapshot;  ///< the last epoch with the homes as they are since its plan
  placement::Options options;
  Circumstances circumstances;
  placement::FreeForVm free;  ///< for a VM that is to start
};

class Controller {
 public:
  explicit Controller(ControllerSetup setup) : state_(std::move(setup)) {}

  [[nodiscard]] Effects on(const Event& event);

  [[nodiscard]] const Ledger& ledger() const { return state_.ledger; }
  [[nodiscard]] const placement::Snapshot& snapshot() const { return state_.last.snapshot; }
  [[nodiscard]] const placement::Plan& plan() const { return state_.last.plan; }
  /// What was wrong with the last plan, of which nothing was carried out then.
  [[nodiscard]] const std::vector<std::string>& plan_violations() const {
    return state_.last.plan_violations;
  }
  /// What VMs were given that do not have their homes whole.
  [[nodiscard]] std::map<placement::VmId, VmCpus> cpu_subsets() const {
    return state_.vms.each(&ManagedVm::cpu_subset);
  }
  /// The mode it is in now: paused and degraded come before the configured one.
  [[nodiscard]] Mode mode() const { return state_.mode(); }
  /// Error: busy before the first epoch was measured.
  [[nodiscard]] Result<Outlook> outlook() const;
  /// Answers a command that changes nothing (changes_something()), as on(CommandReceived) does. The
  /// controller is a value: a copy of it may be asked on another thread.
  [[nodiscard]] Result<Answer> answer(const Command& question) const;

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this

  void handle(const DomainsChanged& event, Effects& effects);
  void handle(const SampleTaken& event, Effects& effects);
  void handle(const ActionProgressed& event, Effects& effects);
  void handle(const TransfersReported& event, Effects& effects);
  void handle(const SourceChanged& event, Effects& effects);
  void handle(const CommandReceived& event, Effects& effects);
  void handle(const ConfigChanged& event, Effects& effects);
  void handle(const TopologyChanged& event, Effects& effects);
  void handle(const LoadExpected& event, Effects& effects);
  void handle(const LoadsForecast& event, Effects& effects);
  void handle(const MemoryLimitsSet& event, Effects& effects);
  void handle(const RoomSearched& event, Effects& effects);
  void handle(const Stopping& event, Effects& effects);

  void take_in(const SampleTaken& event, Effects& effects);
  void plan_and_act(Effects& effects);

  ControllerState state_;
};

}  // namespace vmnuma::balancer
