// SPDX-License-Identifier: Apache-2.0
/// The balancer as a machine: events in, effects out, nothing else.
///
/// Problem: decisions must be the same live, in the simulator and in a replay, and testable without
/// a host. Approach: everything that happens is an Event; what it leads to is returned as Effects.
/// The controller keeps the ledger, the homes, the actions under way and what it needs to explain
/// itself. libvirt's events only change what the ledger knows; decisions are taken when an epoch's
/// sample arrives. Terms: *settled* - no order of the VM has been under way for kSettledAfter
/// epochs, so that its pins, as libvirt tells them, are what they will stay. Properties:
///  1. Equal events give equal effects.
///  2. Outside active mode no order is given; placements are kept as assumptions in dry-run and
///  observe.
///  3. An order that ended undone or dropped leaves the homes as they were before it; its VM then
///  rests for a time
///     that doubles with every failure.
///  4. Pins that somebody else changed are respected: one whole node becomes the home, any other
///  narrow set, and for a VM that was given a part of its home also the whole of it, takes
///     the VM out of management until the pins are gone, and no pins at all let it be placed anew,
///     three times at most.
///  5. Of a plan that breaks a rule (core/validator.h) nothing is carried out.
///  6. A VM that was released is as it was found, and is left alone until it is managed again or
///  its process is a new one.
///  7. A policy in a domain's metadata that is wrong anywhere counts nowhere: the VM keeps that of
///  the configuration and is left where it is until the metadata is mended.
///  8. A VM at home whose CPUs there change is pinned to them by an order of its own.
///  9. While libvirt or the executor does not answer, or paused, nothing is ordered and everything
///  is still measured.
///  10. Where only one node can be a home nobody is placed or pinned, unless a policy asks for
///  CPUs of its own, and no home is remembered.
///  11. Pins that stopped fitting because CPUs went or came, or because the VM has other clients
///  now, are nobody else's: a VM whose home is gone is placed elsewhere, one whose home has other
///  CPUs is pinned to them.
///  12. Under a load that does not change it comes to rest: no order, no home to remember, nothing
///  to log. Only turns on an overloaded host (Numa.LTermFairnessInterval) are never done.
///  13. No VM is kept from starting unless the mode is active and `admission` is enforce.
///  14. Memory limits of a VM are changed only if its policy has a memory_class,
///  Numa.MemQosEnable is 1 and the mode is active.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "balancer/controller/cpu_pins.h"
#include "balancer/controller/events.h"
#include "balancer/controller/memory_steering.h"
#include "balancer/controller/memory_view.h"
#include "balancer/controller/originals.h"
#include "balancer/controller/totals.h"
#include "balancer/core/ledger.h"
#include "balancer/core/outcomes.h"
#include "balancer/core/planner.h"
#include "balancer/core/starting_vms.h"
#include "placement/admission.h"
#include "placement/arrangement.h"
#include "placement/kept_memory.h"
#include "stats/reports/node_stays.h"

namespace vmnuma::balancer {

/// What the controller starts with.
struct ControllerSetup {
  Mode mode{};  ///< observe, dry-run or active
  std::string version;
  std::string uri;
  std::string history_path;
  std::string history_notice;  ///< what had to be set aside at the start; empty if nothing
  std::vector<std::string>
      notices;  ///< what else the administrator should know of how it was started
  placement::Topology topology;
  std::optional<MeasuredMemory> measured_memory;  ///< absent: distances are the firmware's
  placement::Options options;
  std::map<std::string, Origin> origins;
  std::map<std::string, placement::VmPolicy> policies;  ///< by VM name or UUID
  bool metadata_wins = true;  ///< a policy in the domain's metadata goes before `policies`
  bool repairs_pins = false;  ///< VMs that somebody else pins elsewhere are pinned home again
  /// Of VMs whose policy has none of its own.
  placement::PlacementStrategy strategy = placement::PlacementStrategy::kLeastLostTime;
  AdmissionMode admission = AdmissionMode::kEnforce;
  placement::ReservedMemory reserved_memory;  ///< by node, for the system
  /// VMs that were told where to start before the daemon's start.
  std::vector<StartingVm> expected;
  std::int64_t last_action = 0;  ///< the highest number in the history
  std::map<placement::ClientId, placement::NodeId> remembered_homes;  ///< as the history has them
  Originals originals;          ///< noted from all orders of the past
  bool originals_known = true;  ///< none of those orders is missing
  std::map<placement::VmId, placement::VmProcess> released;
  MemoryOriginals memory_originals;
  /// What plans; another one only in tests of what happens to a broken plan.
  placement::Plan (*make_plan)(const placement::Snapshot&, const placement::Options&,
                               const Circumstances&) = balancer::make_plan;
};

/// What the next plan would be made from.
struct Outlook {
  placement::Snapshot snapshot;  ///< the last epoch with the homes as they are since its plan
  placement::Options options;
  Circumstances circumstances;
};

class PinReader;

class Controller {
 public:
  explicit Controller(ControllerSetup setup);

  [[nodiscard]] Effects on(const Event& event);

  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const placement::Snapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] const placement::Plan& plan() const { return plan_; }
  /// What was wrong with the last plan, of which nothing was carried out then.
  [[nodiscard]] const std::vector<std::string>& plan_violations() const { return plan_violations_; }
  /// What VMs were given that do not have their homes whole.
  [[nodiscard]] const std::map<placement::VmId, VmCpus>& narrow_cpus() const { return narrow_; }
  /// The mode it is in now: paused and degraded come before the configured one.
  [[nodiscard]] Mode mode() const;
  /// Error: busy before the first epoch was measured.
  [[nodiscard]] Result<Outlook> outlook() const;
  /// Answers a command that changes nothing (changes_something()), as on(CommandReceived) does. The
  /// controller is a value: a copy of it may be asked on another thread.
  [[nodiscard]] Result<Answer> answer(const Command& question) const;

 private:
  friend struct RecordFields;  ///< of balancer/record: lists what a recording keeps of this
  /// An action whose order is being carried out.
  struct UnderWay {
    placement::Action action;
    std::vector<std::pair<placement::ClientId, placement::NodeId>> homes_before;
    std::vector<std::pair<placement::VmId, std::optional<VmCpus>>> narrow_before;
    bool pinned = false;
    bool gives_back = false;
  };
  struct Rest {
    std::int64_t failures = 0;
    std::int64_t until_epoch = 0;
    std::string why;
  };
  /// A VM's set of memory nodes is being made as wide again as it was found.
  struct Freeing {
    placement::VmProcess process;
    std::int64_t tries = 0;
    std::int64_t last_try = 0;  ///< epoch
  };
  struct Source {
    std::string reason;
    std::int64_t since_unix_s = 0;
  };

  void handle(const DomainsChanged& event, Effects& effects);
  void handle(const SampleTaken& event, Effects& effects);
  void handle(const ActionProgressed& event, Effects& effects);
  void handle(const TransfersReported& event, Effects& effects);
  void handle(const SourceChanged& event, Effects& effects);
  void handle(const CommandReceived& event, Effects& effects);
  void handle(const ConfigChanged& event, Effects& effects);
  void handle(const TopologyChanged& event, Effects& effects);
  void take_measured_stall();
  void take_distances(const placement::Topology& topology, Effects& effects);
  [[nodiscard]] std::string far_memory_text() const;
  void handle(const LoadExpected& event, Effects& effects);
  void handle(const LoadsForecast& event, Effects& effects);
  void handle(const MemoryLimitsSet& event, Effects& effects);
  void handle(const Stopping& event, Effects& effects);

  [[nodiscard]] placement::VmPolicy configured_policy(const placement::VmDescription& vm) const;
  [[nodiscard]] placement::VmPolicy with_strategy(placement::VmPolicy policy) const;
  [[nodiscard]] std::vector<placement::VmDescription> with_policies(
      std::vector<placement::VmDescription> running) const;
  void apply_domains(Effects& effects);
  void adopt_homes(const placement::VmId& vm, Effects& effects);
  void leave_to_others(const VmRecord& vm, std::string because, Effects& effects);
  void settle_on_only_home();
  void find_homes_again(Effects& effects);
  void heed_memory_pressure(const placement::Sample& sample, Effects& effects);
  void take(MemorySteering::Steps steps, Effects& effects);
  [[nodiscard]] std::vector<MemoryWish> memory_wishes(Effects& effects);
  void reserve(MemoryWish& wish, placement::KeptMemory& kept, Effects& effects);
  void keep_for_expected(placement::KeptMemory& kept, placement::Bytes page_size,
                         const placement::VmId& except) const;
  void steer_memory(Effects& effects);
  void forget_memory_of_ended(Effects& effects);
  [[nodiscard]] bool has_changed_memory_of(const placement::VmId& vm) const;
  struct FoundPins;
  [[nodiscard]] FoundPins find_pins(const VmRecord& vm, const PinReader& reader) const;
  void heed_foreign_pins(Effects& effects);
  void heed_pins_of(const VmRecord& vm, const FoundPins& found, Effects& effects);
  void heed_on_only_home(const VmRecord& vm, const FoundPins& found, Effects& effects);
  void heed_insistence(const VmRecord& vm, const FoundPins& found, Effects& effects);
  void renew_pins(const VmRecord& vm, const FoundPins& found);
  /// By VM, by vCPU, the client that it is of.
  using Groups = std::map<placement::VmId, std::map<std::int32_t, std::size_t>>;
  [[nodiscard]] Groups groups() const;
  void note_regrouped(const Groups& before);
  [[nodiscard]] bool repair_pins(const VmRecord& vm, Effects& effects);
  void place_at_home_again(const VmRecord& vm, std::string because, Effects& effects);
  void remember_home(const placement::ClientId& client, placement::NodeId home, Effects& effects);
  void forget_homes_of(const placement::VmId& vm, Effects& effects);
  void remember_homes(const placement::VmId& vm, Effects& effects);
  [[nodiscard]] bool has_other_homes(const placement::Snapshot& snapshot,
                                     const placement::VmState& vm) const;
  void keep_hands_off(placement::Snapshot& snapshot) const;
  [[nodiscard]] std::set<placement::VmId> left_alone() const;
  [[nodiscard]] CpuPins cpu_pins(const std::vector<placement::Relocation>& relocations) const;
  [[nodiscard]] std::vector<placement::CpuId> given_cpus(const placement::ClientId& client) const;
  [[nodiscard]] std::optional<placement::NodeId> find_given_cpus(const VmRecord& vm,
                                                                 std::size_t index);
  void note_given_cpus(const placement::Action& action, const placement::VmId& id,
                       const CpuPins& pins);
  [[nodiscard]] bool can_be_assigned(const VmRecord& vm) const;
  void assign_cpus(Effects& effects);
  void count_exclusive_cores();
  void explain_cpus(ExplainView& view, const placement::VmId& id) const;
  [[nodiscard]] std::optional<std::string> why_no_cores(const placement::VmDescription& vm,
                                                        placement::Snapshot snapshot) const;
  void decide(Effects& effects);
  [[nodiscard]] bool refuse_broken_plan(Effects& effects);
  void order(const placement::Action& action, Effects& effects);
  void order(const placement::Action& action, const CpuPins& pins, Effects& effects);
  void assume(const placement::Action& action);
  /// In mode active, and what carries orders out answers.
  [[nodiscard]] bool reaches_vms() const;
  [[nodiscard]] bool acts() const;
  [[nodiscard]] Result<Answer> change(const Command& command, Effects& effects);
  [[nodiscard]] StatusView status() const;
  [[nodiscard]] HostView host() const;
  [[nodiscard]] Result<Answer> explain(const ExplainRequest& request) const;
  [[nodiscard]] Result<Answer> move(const MoveRequest& request, Effects& effects);
  [[nodiscard]] Result<Answer> move_together(const MoveTogetherRequest& request, Effects& effects);
  [[nodiscard]] Result<placement::Rehoming> rehoming_of(const std::string& vm,
                                                        std::optional<std::int32_t> client,
                                                        placement::NodeId to) const;
  [[nodiscard]] Result<Answer> order_moves(std::vector<placement::Rehoming> moves,
                                           Effects& effects);
  [[nodiscard]] Result<Answer> release(const ReleaseRequest& request, Effects& effects);
  [[nodiscard]] Result<Answer> manage(const ManageRequest& request, Effects& effects);
  DoneView give_back(const VmRecord& vm, Effects& effects);
  void free_from_masks(Effects& effects);
  void end_releases(Effects& effects);
  [[nodiscard]] Result<Answer> what_if(const WhatIfRequest& request) const;
  [[nodiscard]] placement::Snapshot since_the_plan() const;
  [[nodiscard]] Result<Answer> announce(const AnnounceRequest& request, Effects& effects);
  [[nodiscard]] bool refuses_starts() const;
  [[nodiscard]] AdmissionMode admission_now() const {
    return refuses_starts() ? AdmissionMode::kEnforce : AdmissionMode::kAdvise;
  }
  [[nodiscard]] placement::FreeForVm free_for(const placement::VmDescription& vm,
                                              const placement::Snapshot& snapshot,
                                              const placement::Arrangement& now,
                                              const AnnounceRequest& request) const;
  void note_not_admitted(const placement::VmDescription& vm, const std::string& why,
                         Effects& effects);
  [[nodiscard]] placement::VmAdmission admit(const placement::VmDescription& vm,
                                             const placement::Snapshot& snapshot,
                                             const AnnounceRequest& request) const;
  void show_promises(HostView& view) const;
  [[nodiscard]] std::vector<placement::Bytes> capacity_to_promise(placement::Bytes page_size) const;
  [[nodiscard]] std::vector<placement::NodeIndex> group_of(
      const std::vector<placement::NodeIndex>& homes, placement::Bytes page_size,
      placement::Bytes memory) const;
  [[nodiscard]] placement::KeptMemory kept_memory(placement::Bytes page_size,
                                                  const placement::VmId& except) const;
  [[nodiscard]] std::optional<std::string> why_not_guaranteed(
      const placement::VmDescription& vm, const std::vector<placement::NodeIndex>& nodes) const;
  [[nodiscard]] placement::Bytes promised_on(placement::NodeId node, placement::Bytes page_size,
                                             const placement::Snapshot& snapshot) const;
  void keep_admission_state(Effects& effects);
  [[nodiscard]] AdmissionState admission_state() const;
  void find_start(StartingVm& vm, placement::VmDescription description,
                  placement::Snapshot snapshot);
  [[nodiscard]] Result<Answer> withdraw(const WithdrawRequest& request);
  [[nodiscard]] Result<Answer> suggest(const SuggestRequest& request, Effects& effects);
  [[nodiscard]] placement::Snapshot with_starting_vms() const;
  void forget_started();
  [[nodiscard]] PolicyView policy_view(const VmRecord& vm) const;
  [[nodiscard]] Result<Answer> policy(const PolicyRequest& request) const;
  [[nodiscard]] Result<PolicyWrite> write_policy(const SetRequest& request) const;
  [[nodiscard]] Result<Answer> set_option(const OptionsSetRequest& request, Effects& effects);
  [[nodiscard]] Result<const VmRecord*> find_vm(const std::string& name_or_uuid) const;

  ControllerSetup setup_;
  Ledger ledger_;
  Outcomes outcomes_;
  placement::Snapshot snapshot_;
  placement::Plan plan_;
  std::vector<std::string> plan_violations_;
  std::vector<placement::VmDescription> running_;
  std::map<std::int64_t, UnderWay> under_way_;
  struct Finished {
    placement::Bytes moved;
    placement::Microseconds took;
  };
  std::map<std::int64_t, Finished> finished_;  ///< done and waiting to be measured
  std::map<placement::VmId, Rest> rests_;
  std::map<placement::VmId, std::int64_t> settled_since_;  ///< epoch of its last order's end
  std::map<placement::VmId, std::int64_t> repairs_;        ///< how often it was pinned home again
  std::map<placement::VmId, Freeing> freeing_;
  std::map<placement::VmId, std::string> foreign_;  ///< pinned by somebody else: how
  /// VMs whose pins were made before their clients or the host's CPUs changed, and since when.
  std::map<placement::VmId, std::int64_t> outdated_;
  std::map<placement::VmId, VmCpus> narrow_;  ///< what VMs were given that do not have homes whole
  std::map<placement::VmId, std::string> refused_;  ///< policies in metadata, and what is wrong
  std::map<placement::ClientId, std::string> why_here_;
  std::map<std::string, Source> missing_;
  std::vector<migration::TransferProgress> transfers_;
  stats::NodeStays stays_;
  Totals totals_;
  MemorySteering memory_steering_;
  HostMemory host_memory_;
  std::set<placement::VmId> not_reserved_;  ///< guaranteed, but there is no room for that
  StartingVms starting_;
  std::vector<NotAdmittedView> not_admitted_;  ///< newest last
  AdmissionState admission_;                   ///< as last told
  placement::NodeIndex last_placed_on_ = placement::kNoNode;
  std::int64_t next_action_ = 1;
  std::int64_t now_unix_s_ = 0;
  placement::Microseconds late_;       ///< the last epoch
  placement::Microseconds late_most_;  ///< of all epochs
  bool paused_ = false;
  std::optional<std::int32_t> kernel_numa_balancing_;  ///< as last read
  std::optional<std::int64_t> wakeup_pairs_;           ///< as last read
  std::optional<std::int64_t> direct_reclaims_;        ///< as last read
  placement::Microseconds reclaims_read_at_;
  bool memory_pressure_ = false;  ///< page migration rests
  bool breaker_was_open_ = false;
};

}  // namespace vmnuma::balancer
