// SPDX-License-Identifier: Apache-2.0
/// What the daemon reports about itself: the answers to the commands of the control socket, as
/// plain values.
///
/// The controller fills them, balancer/protocol encodes them as JSON, the programs print them.
/// Names of reasons and guards are placement's name_of(). Nodes have the kernel's numbers; a
/// negative NodeId means "none" and is null in JSON. Times of day are seconds since 1970 (UTC); the
/// JSON form is "2025-01-31T12:00:00Z". CPU time is in milliseconds of one core per epoch, rounded
/// to the nearest. The tables of `vmnuma stats` are not here: they are stats::Report.
///
/// What is not known is absent: std::nullopt here, null in JSON, "-" in a table, no sample among
/// the metrics, a gap in a plot. It is never 0. Property: if everything in a view that may be
/// absent is absent, no output made of it has a figure that the view does not have
/// (tests/unit/figures).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/model/mode.h"
#include "balancer/model/origin.h"
#include "balancer/model/severity.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"
#include "placement/model/vm_figures.h"

namespace vmnuma::balancer {

/// A figure that is not always known: nothing has been measured yet, its source is missing, or
/// there is nothing for it to describe.
using Figure = std::optional<std::int64_t>;

/// A source of data or control that is missing.
struct DegradedView {
  std::string source;  ///< for example "libvirt", "/proc/stat", "history"
  std::string reason;
  std::int64_t since_unix_s = 0;
  bool operator==(const DegradedView&) const = default;
};

/// The transfer of one VM's memory.
struct TransferView {
  std::string vm;
  std::string vm_uuid;
  std::int32_t client = 0;  ///< the client that moves; the first one if several move together
  std::int64_t action = 0;  ///< its number in the history
  std::string reason;
  std::vector<NodeId> to;
  /// "running", "waiting" (for room, for memory pressure to end, or for another attempt), "paused"
  std::string state;
  std::int64_t bytes_done = 0;
  std::int64_t bytes_remaining = 0;
  std::int64_t rate_bytes_per_second = 0;
  Figure seconds_left;               ///< at this rate; unknown without one, or while not running
  std::int64_t stalls = 0;           ///< calls that took longer than Numa.PageMigStallTarget
  std::int64_t unmovable_bytes = 0;  ///< given up, at least for now
  std::string problem = {};          ///< why its set of memory nodes could not be changed yet
  bool operator==(const TransferView&) const = default;
};

/// A policy in a domain's metadata that is not applied.
struct RefusedPolicyView {
  std::string vm;
  std::string vm_uuid;
  std::string reason;
  bool operator==(const RefusedPolicyView&) const = default;
};

struct HistoryStateView {
  std::string path;
  std::string state;  ///< "ok", or why nothing is recorded now
  bool operator==(const HistoryStateView&) const = default;
};

/// A VM whose policy could not be met when it was about to start.
struct NotAdmittedView {
  std::string vm;
  std::string vm_uuid;
  bool refused = false;  ///< it did not start; otherwise it was allowed to start nevertheless
  std::string reason;
  std::int64_t time_unix_s = 0;
  bool operator==(const NotAdmittedView&) const = default;
};

/// For how many VMs a forecast counts in decisions, by the predictor that made it.
struct ForecastsView {
  std::int64_t trained = 0;
  std::int64_t histogram = 0;
  std::int64_t last_maximum = 0;
  bool operator==(const ForecastsView&) const = default;
};

/// The largest VM that would start now on huge pages of one size.
struct LargestOnPagesView {
  std::int64_t page_bytes = 0;
  NodeId node;  ///< none: no page of the size is free
  std::int64_t memory_bytes = 0;
  bool operator==(const LargestOnPagesView&) const = default;
};

/// The largest VM that would start now on one node (placement/largest_vm.h). Figures are absent
/// before the first epoch.
struct LargestVmView {
  NodeId node;                                 ///< the one with most room; none: no node has any
  Figure vcpus;                                ///< on that node; 0 if there is none
  Figure memory_bytes;                         ///< on that node, on ordinary pages
  Figure room_bytes;                           ///< the same for all nodes together
  std::vector<LargestOnPagesView> huge_pages;  ///< by page size, ascending
  bool operator==(const LargestVmView&) const = default;
};

/// Prefix of the URI of a daemon on a simulated host; it has no libvirt connection.
inline constexpr std::string_view kSimulatedUri = "simulated:";
/// The same for a recording that is being shown; its path follows.
inline constexpr std::string_view kRecordedUri = "recording:";

/// `vmnuma status`
struct StatusView {
  Mode mode{};
  Mode configured_mode{};  ///< applies again when `mode` is no longer paused or degraded
  std::vector<DegradedView> degraded;  ///< empty if nothing is missing
  /// Why this host has nothing to balance, as a sentence; empty if it has something.
  std::string nothing_to_balance;
  /// What was set aside at the start: sentences for people.
  std::vector<std::string> notices;
  std::string version;
  std::string uri;  ///< the libvirt connection; for a simulated host kSimulatedUri and its scenario
  std::string host_name;   ///< for a simulated host its scenario's, for a recording its file's
  Figure recorded_unix_s;  ///< when the epoch that a recording shows was measured; else absent
  std::int64_t epoch = 0;
  std::int64_t epoch_length_ms = 0;  ///< as configured: how often an epoch is due
  /// Epochs until moves are made again after too many failed or did harm; 0: they are made.
  std::int64_t breaker_epochs_left = 0;
  Figure late_ms;        ///< from the time at which the last epoch was due until it was measured
  Figure late_most_ms;   ///< the largest of these since the daemon was started
  Figure imbalance_pct;  ///< largest difference of owed / capacity between two nodes, 0..100
  Figure lost_ms;        ///< CPU time the whole host lost in the last epoch
  std::int64_t nodes = 0;
  Figure vms;                     ///< absent until libvirt has reported which ones run
  Figure clients;                 ///< absent with `vms`
  std::int64_t open_actions = 0;  ///< begun and not finished
  LargestVmView largest_vm;
  std::int64_t reservations = 0;  ///< how many there are
  /// The value of the sysctl kernel.numa_balancing: 0 = off; absent if the kernel has none.
  std::optional<std::int32_t> kernel_numa_balancing;
  std::optional<SchedExt> sched_ext;  ///< the BPF program that schedules, if any
  CacheScheduling cache_scheduling = CacheScheduling::kNone;
  /// Online CPUs that VMs may not use (Node::isolated_cpus), ascending.
  std::vector<CpuId> isolated_cpus;
  bool wants_wakeups = false;  ///< Numa.LocalityWeightActionAffinity is not 0
  /// For how many pairs of VMs mutual wake-ups are counted; absent = not counted.
  Figure wakeup_pairs;
  ForecastsView forecasts;
  std::vector<TransferView> transfers;
  std::vector<RefusedPolicyView> refused_policies;
  std::string admission;                      ///< in force now: "enforce" or "advise"
  std::vector<NotAdmittedView> not_admitted;  ///< the last ones, newest last
  HistoryStateView history;
  bool operator==(const StatusView&) const = default;
};

/// CPU time since the daemon was started. Only grows, except for a restart.
struct CpuTotalView {
  std::int64_t used_ms = 0;
  std::int64_t ready_ms = 0;  ///< runnable, but waiting for a CPU
  std::int64_t entitled_ms = 0;
  std::int64_t owed_ms = 0;
  bool operator==(const CpuTotalView&) const = default;
};

/// Huge pages of hugetlbfs of one size on a node.
struct HugePagesView {
  std::int64_t page_bytes = 0;
  std::int64_t total_bytes = 0;
  std::int64_t reserved_bytes = 0;  ///< kept for the system and by reservations
  std::int64_t promised_bytes = 0;  ///< as NodeView::promised_bytes
  Figure largest_vm_bytes = {};     ///< as NodeView::largest_vm_bytes
  bool operator==(const HugePagesView&) const = default;
};

/// One node in HostView. Times are of the last epoch; `used` to `owed` are sums over its clients.
/// CPU figures are absent without two readings of all its CPUs, memory without a reading of it.
struct NodeView {
  NodeId node;
  bool known = true;  ///< false: its readings are missing, so nothing is moved to it
  std::int32_t cores = 0;
  std::int32_t cpus = 0;                ///< logical CPUs that VMs may use
  std::vector<std::int32_t> distances;  ///< to the nodes in the order of HostView::nodes, on SLIT's
                                        ///< scale, as decisions use them
  Figure vcpus;                         ///< homed here; absent before the first epoch
  Figure load_pct;     ///< load average in per cent of what other load leaves; may exceed 100
  Figure capacity_ms;  ///< what it can give to clients
  Figure non_vm_ms;    ///< lasting use by everything except clients
  Figure used_ms;
  Figure demand_ms;
  Figure entitled_ms;
  Figure owed_ms;
  std::int64_t memory_bytes = 0;
  Figure free_bytes;
  Figure reserve_bytes;  ///< what moves must leave free
  std::int64_t capacity_total_ms = 0;
  std::int64_t non_vm_total_ms = 0;
  CpuTotalView total;
  /// Two shares of the whole node, all of its logical CPUs: what clients want, as a load average,
  /// and what non-VM load uses. If they add up to more than 100, the node is overloaded.
  Figure vm_load_pct = {};
  Figure non_vm_pct = {};
  /// What VMs were promised here, whatever they use: those at home, and those that were told to
  /// start here and have no home yet. The memory is only that on ordinary pages. The vCPUs of
  /// reservations are included, their memory is not: it is part of `reserve_bytes`.
  std::int64_t promised_vcpus = 0;
  std::int64_t promised_bytes = 0;
  std::vector<HugePagesView> huge_pages = {};  ///< sizes that have pages here, ascending
  /// The largest VM that would start now on this node; its memory on ordinary pages.
  Figure largest_vm_vcpus = {};
  Figure largest_vm_bytes = {};
  /// Kept by reservations, on ordinary and on huge pages; absent before the first epoch.
  Figure reservation_bytes = {};
  bool operator==(const NodeView&) const = default;
};

/// One client in HostView. Times are of the last epoch, absent if its VM was not measured in it.
struct VmClientView {
  std::int32_t index = 0;
  std::int32_t vcpus = 0;
  NodeId home;  ///< none until it is placed
  bool moving = false;
  Figure used_ms;
  Figure ready_ms;
  Figure demand_ms;
  Figure entitled_ms;
  Figure owed_ms;
  std::int64_t size_bytes = 0;             ///< its part of the VM's memory
  std::vector<std::int64_t> memory_bytes;  ///< what is resident, per node of HostView::nodes; empty
                                           ///< if not known
  Figure locality_pct;     ///< share of it on the home node; also absent without a home
  std::int64_t moves = 0;  ///< since its VM was first seen
  CpuTotalView total;
  bool home_assumed = false;  ///< it is not pinned to its home, but would be in mode active
  bool operator==(const VmClientView&) const = default;
};

/// Something in a VM's definition that will hurt (placement/advice/warnings.h).
struct AdviceView {
  std::string kind;               ///< name_of(AdviceWarning)
  std::string text;               ///< a sentence
  bool calls_for_change = false;  ///< another definition would help
  bool operator==(const AdviceView&) const = default;
};

/// One VM in HostView.
struct VmView {
  std::string vm;
  std::string vm_uuid;
  Figure weight;            ///< cpu.weight
  bool managed = true;      ///< false: it is left alone
  std::string not_managed;  ///< why it is left alone
  bool transferring = false;
  std::vector<VmClientView> clients;
  VmFigures figures = {};                     ///< as kVmFigures declares them
  std::vector<std::string> pci_devices = {};  ///< passed through to it, as in "0000:3b:00.0"
  std::vector<AdviceView> advice = {};        ///< about its definition
  std::string owner = {};                     ///< owner of the VM; empty: not set
  bool operator==(const VmView&) const = default;
};

/// How many actions of one reason have ended in one way.
struct ActionCountView {
  std::string reason;
  std::string state;  ///< "done", "undone", "dropped"
  std::int64_t count = 0;
  bool operator==(const ActionCountView&) const = default;
};

/// The host in its present state: every node and every client, and totals since the daemon was
/// started.
struct HostView {
  std::int64_t epoch = 0;
  std::int64_t epoch_length_ms = 0;
  std::int64_t lost_total_ms = 0;        ///< CPU time the whole host lost
  std::int64_t moved_bytes = 0;          ///< of memory, by actions that have ended
  std::vector<ActionCountView> actions;  ///< every reason with every state, including those at 0
  std::vector<NodeView> nodes;
  std::vector<VmView> vms;
  bool vms_known = false;            ///< false: libvirt has not reported yet which ones run
  bool distances_measured = false;   ///< NodeView::distances do not come from the firmware alone
  std::string admission;             ///< as in StatusView
  std::string host_name;             ///< likewise
  std::int64_t epoch_period_ms = 0;  ///< how often an epoch is due
  std::int64_t breaker_epochs_left = 0;  ///< as in StatusView
  bool operator==(const HostView&) const = default;
};

/// One client of the VM that `vmnuma explain` reports on.
struct ClientView {
  std::int32_t index = 0;
  std::vector<std::int32_t> vcpus;
  NodeId home;
  std::vector<NodeId> allowed;
  std::string why;                ///< a sentence: why it lives there
  std::int64_t since_epochs = 0;  ///< how long it has lived there
  Figure used_ms;                 ///< this and the next four as in VmClientView
  Figure ready_ms;
  Figure demand_ms;
  Figure entitled_ms;
  Figure owed_ms;
  Figure memory_bytes;       ///< what is resident
  Figure locality_pct;       ///< share of it on the home node
  std::string cpus;          ///< that it may run on, as a list; empty: all of its home
  NodeId spills_to;          ///< it uses this node's CPUs as well; value -1: none
  Figure spill_saves_ms;     ///< what that has recently saved, per epoch
  std::string no_own_cores;  ///< why it was not given cores of its own; empty otherwise
  bool operator==(const ClientView&) const = default;
};

/// One candidate that the last plan considered.
struct CandidateView {
  std::string action;  ///< name_of(Reason): "load-move", ...
  std::int32_t client = 0;
  NodeId from;
  NodeId to;
  std::string partner;       ///< the other client of a swap as "NAME/INDEX"; empty otherwise
  std::int64_t gain_ms = 0;  ///< lost time it would save per epoch; may be negative
  std::string guard;         ///< name_of(Guard) that stopped it; empty if it was taken
  std::string sentence;  ///< the result as a sentence for people, with the numbers and thresholds
  bool operator==(const CandidateView&) const = default;
};

/// One key of a VM's policy.
struct PolicyKeyView {
  std::string name;
  std::string value;
  std::string default_value;
  Origin origin{};      ///< default, file or metadata
  std::string allowed;  ///< what a value may be
  std::string help;
  bool operator==(const PolicyKeyView&) const = default;
};

/// `vmnuma set VM`: the policy in force for a VM.
struct PolicyView {
  std::string vm;
  std::string vm_uuid;
  bool metadata_wins = true;        ///< the configuration gives metadata precedence
  std::string refused;              ///< what is wrong with the policy in its metadata; or empty
  std::vector<PolicyKeyView> keys;  ///< all, in the order of the table
  bool operator==(const PolicyView&) const = default;
};

/// A VM to which the explained VM talks.
struct TalkView {
  std::string vm;
  std::string vm_uuid;
  std::int64_t wakeups_per_second = 0;  ///< in both directions, averaged
  Figure same_node_pct;  ///< share of the pairs of their clients that have homes; absent without
                         ///< such pairs
  bool operator==(const TalkView&) const = default;
};

/// Interrupts of a device that fire on CPUs of the same node.
struct InterruptsView {
  std::vector<std::int32_t> numbers;  ///< ascending
  std::string handler;                ///< of the first, as /proc/interrupts names it
  std::string cpus;                   ///< where they fire: "0-3"
  NodeId node;                        ///< of these CPUs; none if they are on several
  bool operator==(const InterruptsView&) const = default;
};

/// A device of the host that a VM uses.
struct DeviceView {
  std::string kind;  ///< "PCI device", "mediated device", "network interface" or "disk"
  std::string name;
  NodeId node;  ///< none: not known, or the devices that carry it are on several
  /// For a passed-through PCI device, or for the device that carries a mediated device or network
  /// interface.
  std::vector<InterruptsView> interrupts;
  std::string advice;  ///< a sentence: which of them fire far away and what to do; or empty
  bool operator==(const DeviceView&) const = default;
};

/// `vmnuma explain VM`
struct ExplainView {
  std::string vm;
  std::string vm_uuid;
  std::int64_t epoch = 0;
  std::vector<ClientView> clients;
  std::vector<CandidateView> considered;  ///< best first
  std::string memory;  ///< what is done with its memory, or why nothing is; a sentence
  /// How its topology_policy is met, and whether max_per_node is respected, as a sentence; may be
  /// empty.
  std::string topology;
  std::vector<TalkView> talks;  ///< most first, at most five
  std::vector<DeviceView> devices;
  PolicyView policy;
  bool operator==(const ExplainView&) const = default;
};

/// The predicted result of an action, to the extent that it was predicted: for a memory pull its
/// locality, for other CPUs on the same node nothing.
struct PredictionView {
  Figure lost_before_ms;
  Figure lost_after_ms;
  Figure imbalance_before_pct;
  Figure imbalance_after_pct;
  Figure locality_before_pct;  ///< of the clients that move; absent at their first placement
  Figure locality_after_pct;
  Figure cost_ms;  ///< once
  bool operator==(const PredictionView&) const = default;
};

/// The result of an action, measured afterwards: the counterpart of PredictionView.
struct OutcomeView {
  std::int64_t lost_before_ms = 0;
  std::int64_t lost_after_ms = 0;
  std::int64_t imbalance_before_pct = 0;
  std::int64_t imbalance_after_pct = 0;
  Figure locality_before_pct;
  Figure locality_after_pct;
  std::int64_t moved_bytes = 0;
  std::int64_t took_ms = 0;
  bool operator==(const OutcomeView&) const = default;
};

/// One client's move as it was carried out. A swap is two rows with the same action.
struct HistoryRowView {
  std::int64_t action = 0;
  std::int64_t time_unix_s = 0;
  std::string vm;
  std::string vm_uuid;
  std::int32_t client = 0;
  std::string reason;
  NodeId from;
  NodeId to;
  PredictionView predicted;
  std::optional<OutcomeView> outcome;  ///< absent until it has been measured
  std::string state;                   ///< "open", "done", "undone", "dropped"
  std::string detail;                  ///< why it was undone or dropped; what was moved
  NodeId spills_to = {};               ///< it may use this node's CPUs as well as those of `to`
  bool operator==(const HistoryRowView&) const = default;
};

/// `vmnuma history`: newest first.
struct HistoryView {
  std::vector<HistoryRowView> moves;
  bool truncated = false;  ///< more rows match than the limit let through
  bool operator==(const HistoryView&) const = default;
};

/// Something that happened: a line of the daemon's log.
struct EventView {
  std::int64_t number = 0;  ///< since the daemon was started, from 1
  std::int64_t time_unix_s = 0;
  Severity level{};
  std::string message;
  std::vector<std::string> vms;  ///< the VMs that it is about
  Figure action;                 ///< its number in the history
  std::string reason;            ///< name_of(Reason) of the action that begins; or empty
  bool operator==(const EventView&) const = default;
};

/// `vmnuma events`: oldest first.
struct EventsView {
  std::vector<EventView> events;
  std::int64_t last = 0;   ///< the number of the newest of all events
  bool truncated = false;  ///< more match: beyond the limit, or no longer kept
  bool operator==(const EventsView&) const = default;
};

struct RelocationView {
  std::string vm;
  std::string vm_uuid;
  std::int32_t client = 0;
  NodeId from;
  NodeId to;
  std::int64_t memory_bytes = 0;  ///< what has to move
  NodeId spills_to = {};          ///< it may use this node's CPUs as well as those of `to`
  bool operator==(const RelocationView&) const = default;
};

struct ActionView {
  std::string reason;
  std::vector<RelocationView> relocations;
  PredictionView predicted;
  std::string sentence;
  bool operator==(const ActionView&) const = default;
};

/// A candidate of any VM that was not taken.
struct RejectionView {
  std::string vm;
  CandidateView candidate;
  bool operator==(const RejectionView&) const = default;
};

/// `vmnuma plan`: the last epoch's plan.
struct PlanView {
  std::int64_t epoch = 0;
  Mode mode{};     ///< shows whether it is being carried out
  Figure lost_ms;  ///< absent as in StatusView
  Figure imbalance_pct;
  std::vector<ActionView> actions;        ///< in the order in which they are carried out
  std::vector<RejectionView> rejections;  ///< best first
  bool operator==(const PlanView&) const = default;
};

/// One option, as `vmnuma options` shows it.
struct OptionView {
  std::string name;
  std::string unit;
  std::int64_t value = 0;
  std::int64_t default_value = 0;  ///< of the preset in force
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  Origin origin{};
  bool from_esxi = false;
  std::string help;
  bool operator==(const OptionView&) const = default;
};

/// `vmnuma options list` and `get`: in the order of the table.
struct OptionsView {
  std::vector<OptionView> options;
  bool operator==(const OptionsView&) const = default;
};

/// One key or option of the configuration.
struct SettingView {
  std::string key;    ///< "mode", "history.max_mib", "Numa.MigThreshold", "vm.web1.nodes"
  std::string value;  ///< as written in the file, without quotes
  Origin origin{};
  bool operator==(const SettingView&) const = default;
};

/// `vmnuma config show`: the configuration in force.
struct ConfigView {
  std::vector<SettingView> settings;
  std::vector<std::string> notices;  ///< about how the file was read, for the administrator
  bool operator==(const ConfigView&) const = default;
};

/// The figures of the whole host on which every decision is based.
struct StandingView {
  Figure lost_ms;  ///< per epoch
  Figure imbalance_pct;
  Figure locality_pct;
  bool operator==(const StandingView&) const = default;
};

/// A node that was considered for a client of a new VM.
struct NodeChoiceView {
  NodeId node;
  bool fits = false;  ///< its memory
  Figure load_pct;    ///< the node's load average with the client
  Figure room_bytes;  ///< free for it, above the reserve and what others have yet to touch
  bool operator==(const NodeChoiceView&) const = default;
};

/// Where a client of a new VM would live.
struct NewHomeView {
  std::string vm;
  std::int32_t client = 0;
  std::int32_t vcpus = 0;
  NodeId home;  ///< none: no node may be its home
  std::int64_t memory_bytes = 0;
  std::int64_t elsewhere_bytes = 0;  ///< the part of it for which the home has no room
  std::vector<NodeChoiceView> considered;
  bool operator==(const NewHomeView&) const = default;
};

/// `vmnuma what-if`
struct WhatIfView {
  std::int64_t epoch = 0;  ///< the last one measured
  StandingView before;
  StandingView after;
  std::vector<NewHomeView> homes;  ///< in the order in which the new VMs were given
  PlanView plan;                   ///< of the next epoch, under the supposed changes
  std::vector<std::string> notes;  ///< sentences: what the answer does not cover
  bool operator==(const WhatIfView&) const = default;
};

/// Lines of a recording in progress.
struct RecordingView {
  std::int64_t recording = 0;      ///< its number, for the next request
  std::vector<std::string> lines;  ///< each with its line end
  bool more = false;               ///< there are more, to be requested at once
  std::int64_t epochs = 0;         ///< recorded so far
  bool complete = false;           ///< it has as many epochs as were requested
  std::string ended;               ///< why it has ended, or empty
  bool operator==(const RecordingView&) const = default;
};

/// The state from which the daemon plans.
struct StateView {
  std::string line;  ///< the first line of a recording that starts now
  bool operator==(const StateView&) const = default;
};

/// One VM in MemoryView.
struct VmMemoryView {
  std::string vm;
  std::string vm_uuid;
  std::string memory_class;     ///< name_of(MemoryClass)
  bool known = false;           ///< false: it could not be read, most figures are absent
  std::int64_t size_bytes = 0;  ///< of the guest
  Figure anonymous_bytes;
  Figure shared_bytes;       ///< of memfd and the like
  Figure file_bytes;         ///< page cache
  Figure unevictable_bytes;  ///< the part of all these that is locked
  Figure swap_bytes;
  std::vector<std::int64_t> node_bytes;  ///< resident, per node of MemoryView::nodes; empty if not
                                         ///< known
  Figure min_bytes;                      ///< memory.min in force
  Figure low_bytes;                      ///< memory.low
  Figure high_bytes;                     ///< memory.high; also absent if there is no limit
  Figure max_bytes;                      ///< memory.max
  Figure swap_max_bytes;                 ///< memory.swap.max
  /// Share of the last 10 s in which some of its tasks, or all, waited for memory.
  Figure waits_some_permille;
  Figure waits_full_permille;
  Figure oom_score_adj;
  std::string not_reclaimable;  ///< why none of the guest's memory can be reclaimed, or empty
  bool operator==(const VmMemoryView&) const = default;
};

/// A VM's place in the order in which VMs lose memory.
struct VictimView {
  std::string vm;
  std::int64_t bytes = 0;  ///< what can be taken; for a kill: the badness, may be negative
  std::string sentence;    ///< why it is in this place
  bool operator==(const VictimView&) const = default;
};

/// `vmnuma memory`
struct MemoryView {
  bool enabled = false;  ///< Numa.MemQosEnable
  std::int64_t memory_bytes = 0;
  Figure swap_bytes;                         ///< of the host
  std::optional<bool> protection_inherited;  ///< cgroup v2 is mounted with memory_recursiveprot
  std::vector<NodeId> nodes;
  std::vector<VmMemoryView> vms;  ///< by name
  std::vector<VictimView> reclaimed_first;
  std::vector<VictimView> killed_first;
  bool operator==(const MemoryView&) const = default;
};

/// Memory of a node that a reservation keeps.
struct ReservedMemoryView {
  NodeId node;
  std::int64_t page_bytes = 0;  ///< 0: ordinary pages
  std::int64_t memory_bytes = 0;
  bool operator==(const ReservedMemoryView&) const = default;
};

/// What a running VM has taken of a shared reservation.
struct SharedPartView {
  std::string vm;
  std::string vm_uuid;
  std::int64_t vcpus = 0;
  std::vector<ReservedMemoryView> memory;
  bool operator==(const SharedPartView&) const = default;
};

/// Room that is kept for VMs that do not run yet: what is left of it.
struct ReservationView {
  std::string name;
  std::string vm;       ///< the name of the VM that it is for; empty: for none
  std::string vm_uuid;  ///< or its UUID
  std::string group;    ///< or the group
  std::int64_t vcpus = 0;
  std::vector<NodeId> homes;  ///< of its vCPUs, by client
  std::vector<ReservedMemoryView> memory;
  Figure until_unix_s;              ///< absent: it does not expire
  std::vector<std::string> served;  ///< UUIDs of running VMs for which it keeps nothing more
  std::string owner = {};           ///< or it is for the VMs of this owner
  bool shared = false;
  std::vector<SharedPartView> taken = {};  ///< of a shared one
  bool lasting = false;  ///< it was made for a duration, and `until` moves with the clock
  bool operator==(const ReservationView&) const = default;
};

/// `vmnuma reservations`: in the order in which they were made.
struct ReservationsView {
  std::vector<ReservationView> reservations;
  bool operator==(const ReservationsView&) const = default;
};

/// Something that happened to a reservation.
struct ReservationEventView {
  std::int64_t time_unix_s = 0;
  std::string reservation;
  std::string what;  ///< "reserved", "taken-up", "came-back", "expired", "given-up"
  std::string vm;    ///< the VM that it is about; empty: none
  std::string vm_uuid;
  std::int64_t memory_bytes = 0;  ///< reserved, taken, returned, or left when it ends
  std::string detail;             ///< a sentence, as in the log
  bool operator==(const ReservationEventView&) const = default;
};

/// `vmnuma reservations --history`: newest first.
struct ReservationHistoryView {
  std::vector<ReservationEventView> events;
  bool truncated = false;  ///< more match than the limit let through
  bool operator==(const ReservationHistoryView&) const = default;
};

/// Where a VM should start.
struct SuggestView {
  std::string vm;             ///< the one that was announced; empty: none was
  std::string vm_uuid;        ///< empty if `vm` is
  std::vector<NodeId> nodes;  ///< its homes, and where there is room for its memory; never empty
  bool operator==(const SuggestView&) const = default;
};

/// The daemon's answer to the hook that announces a VM.
struct AnnouncedView {
  std::string message;  ///< a sentence: that it may start, or what its start waits for
  Figure ask_again_ms;  ///< after this time the hook must announce the VM again
  Figure at_most_ms;    ///< only with it: the time from now after which the hook must ask for the
                        ///< last time
  bool operator==(const AnnouncedView&) const = default;
};

/// The answer to a command that changes something.
struct DoneView {
  std::string message;  ///< a sentence: what was done, or started
  Figure action;        ///< for `move`: its number in the history
  bool operator==(const DoneView&) const = default;
};

}  // namespace vmnuma::balancer
