// SPDX-License-Identifier: Apache-2.0
/// The balancer as a state machine: events in, effects out, nothing else.
///
/// Problem: decisions must be the same live, in the simulator and in a replay, and testable without
/// a host. Approach: everything that happens is an Event; its consequences are returned as Effects.
/// The controller keeps the ledger, the homes, the actions under way and what it needs to explain
/// itself. libvirt's events only update the ledger; decisions are taken when an epoch's sample
/// arrives.
///
/// Terms: *settled* - no order of the VM has been under way for kSettledAfter epochs, so its pins,
/// as libvirt reports them, are final.
///
/// Properties:
///  - equal events give equal effects;
///  - outside active mode no order is given; placements are kept as assumptions in dry-run and
///    observe;
///  - an order that ends undone or dropped leaves the homes as they were before it; its VM then
///    rests for a time that doubles with every failure;
///  - pins that were changed externally are respected: one whole node becomes the home; any other
///    narrow set (and, for a VM that was given a part of its home, also the whole of it) takes the
///    VM out of management until the pins are gone; if all pins are removed the VM is placed again,
///    at most three times within an hour;
///  - if a plan breaks a rule (core/validator.h), none of it is carried out;
///  - a released VM is as it was found, and is left alone until it is managed again or has a new
///    process;
///  - a policy in a domain's metadata with any error is ignored as a whole: the VM keeps that of
///    the configuration and is left where it is until the metadata is corrected;
///  - a VM at home is pinned by a separate order when its CPUs there change;
///  - while paused, or while libvirt or the executor does not answer, nothing is ordered but
///    everything is still measured;
///  - if only one node can be a home, no VM is placed or pinned, unless a policy asks for CPUs of
///    its own, and no home is remembered;
///  - pins that no longer fit because CPUs were added or removed, or because the VM now has other
///    clients, do not count as external: a VM without its home is placed elsewhere, one with other
///    CPUs in its home is pinned to them;
///  - under a constant load it comes to rest: no order, no home to remember, nothing to log. Only
///    turns on an overloaded host (Numa.LTermFairnessInterval) never end;
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

/// The input of the next plan.
struct Outlook {
  Snapshot snapshot;  ///< the last epoch, with the homes given since its plan
  Options options;
  Circumstances circumstances;
  FreeForVm free;  ///< what a VM that is about to start would find free
};

class Controller {
 public:
  explicit Controller(ControllerSetup setup) : state_(std::move(setup)) {}

  [[nodiscard]] Effects on(const Event& event);

  [[nodiscard]] const Ledger& ledger() const { return state_.ledger; }
  [[nodiscard]] const Snapshot& snapshot() const { return state_.last.snapshot; }
  [[nodiscard]] const Plan& plan() const { return state_.last.plan; }
  /// The rules that the last plan broke; if there are any, none of it was carried out.
  [[nodiscard]] const std::vector<std::string>& plan_violations() const {
    return state_.last.plan_violations;
  }
  /// The CPUs of VMs that do not have the whole of their homes.
  [[nodiscard]] std::map<VmId, VmCpus> cpu_subsets() const {
    return state_.vms.each(&ManagedVm::cpu_subset);
  }
  /// The configuration, with the options set since.
  [[nodiscard]] const Settings& settings() const { return state_.setup; }
  /// The setup with which a new controller continues where this one stopped, without reading the
  /// history.
  [[nodiscard]] ControllerSetup to_resume() const;
  /// True if no order is under way.
  [[nodiscard]] bool is_idle() const {
    return state_.orders.count() == 0 && state_.memory.under_way() == 0;
  }
  /// The current mode: paused and degraded take precedence over the configured one.
  [[nodiscard]] Mode mode() const { return state_.mode(); }
  /// The input of the next plan. Error: busy before the first epoch was measured.
  [[nodiscard]] Result<Outlook> outlook() const;
  /// Answers a command that changes nothing (changes_something()), as on(CommandReceived) does. The
  /// controller is a value: a copy of it may be queried on another thread.
  [[nodiscard]] Result<Answer> answer(const Command& question) const;

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording contains of this

  void handle(const DomainsChanged& event, Effects& effects);
  void take_domains(std::vector<VmDescription> running, Effects& effects);
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
