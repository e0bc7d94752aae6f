// SPDX-License-Identifier: Apache-2.0
/// The controller's input events and the effects it requests: plain values, so that live operation,
/// simulation and replay use the same code.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "balancer/controller/admission_state.h"
#include "balancer/controller/memory_steering.h"
#include "balancer/controller/room_needed.h"
#include "balancer/core/outcomes.h"
#include "balancer/core/reservations.h"
#include "balancer/model/admission_mode.h"
#include "balancer/model/mode.h"
#include "balancer/model/origin.h"
#include "balancer/model/severity.h"
#include "balancer/protocol/request.h"
#include "balancer/protocol/response.h"
#include "migration/order.h"
#include "migration/progress.h"
#include "placement/base/result.h"
#include "placement/model/device_pool.h"
#include "placement/model/domain.h"
#include "placement/model/forecast.h"
#include "placement/model/options.h"
#include "placement/model/reserved_memory.h"
#include "placement/model/sample.h"
#include "placement/model/snapshot.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

// ---- in ----

/// All running VMs, after a change.
struct DomainsChanged {
  std::vector<VmDescription> running;
  std::vector<VmId> unreadable = {};  ///< VMs that run as well but could not be described yet
};

/// The epoch's readings. Decisions are taken when they arrive.
struct SampleTaken {
  Sample sample;
  std::int64_t wall_unix_s = 0;
  Microseconds late;  ///< how long after the epoch was due; displayed, but nothing depends on it
};

/// Progress of an action.
struct ActionProgressed {
  migration::ActionEvent event;
};

/// The current state of all transfers.
struct TransfersReported {
  std::vector<migration::TransferProgress> transfers;
};

/// A part of the host or of the service has failed, or works again.
struct SourceChanged {
  std::string source;  ///< "libvirt", "history", or a worker of the service that hangs
  std::string reason;  ///< empty: works again
  std::int64_t wall_unix_s = 0;
};

/// A command from the control socket. `token` is returned with the answer.
struct CommandReceived {
  std::int64_t token = 0;
  Command command;
};

/// The part of the configuration that decisions depend on.
struct Settings {
  Mode mode{};  ///< observe, dry-run or active
  Options options;
  std::map<std::string, Origin> origins;     ///< of options that are not at their default
  std::map<std::string, VmPolicy> policies;  ///< by VM name or UUID
  bool metadata_wins = true;  ///< a policy in the domain's metadata overrides `policies`
  bool repairs_pins = false;  ///< VMs pinned elsewhere externally are pinned home again
  /// The strategy of VMs without one in their policy.
  PlacementStrategy strategy = PlacementStrategy::kLeastLostTime;
  AdmissionMode admission = AdmissionMode::kEnforce;
  ReservedMemory reserved_memory;    ///< by node, for the system
  std::vector<std::string> notices;  ///< on how the configuration was read, for the administrator
  std::vector<DevicePool> device_pools;  ///< that policies may name
  Preset preset = Preset::kVmnuma;       ///< the defaults of `options`
};

/// The configuration was read again.
struct ConfigChanged : Settings {};

/// A VM's usual load at busy times, from the history; assumed until the VM's load has been
/// measured.
struct LoadExpected {
  VmId vm;
  Permille per_vcpu;
};

/// The expected demand of VMs in the next ten minutes; replaces all earlier forecasts.
struct LoadsForecast {
  LoadForecasts forecasts;
};

/// The result of a change of memory limits.
struct MemoryLimitsSet {
  std::string path;     ///< of the cgroup
  std::string problem;  ///< empty: it was carried out
};

/// The measured time of memory reads on this host.
struct MeasuredMemory {
  std::int64_t local_read_ns = 0;  ///< a node's own memory, mean of all nodes
  std::int64_t stall_pct = 0;      ///< the Numa.MemStallPct that follows from it
  bool operator==(const MeasuredMemory&) const = default;
};

/// The host's nodes, or the distances assumed for them, changed.
struct TopologyChanged {
  Topology topology;  ///< with the distances that decisions should use
  /// Absent: distances are from the firmware.
  std::optional<MeasuredMemory> measured;
};

/// A client that should move to make room; it must still be on `from`.
struct RoomMove {
  ClientId client;
  NodeId from;
  NodeId to;
  bool operator==(const RoomMove&) const = default;
};

/// The result of a search for room (RoomSearch).
struct RoomSearched {
  VmId vm;      ///< for which room was searched
  NodeId node;  ///< where the VM fits after all steps; negative: nowhere
  std::vector<std::vector<RoomMove>> steps;  ///< in order, each step's moves at once
  std::string refused;                       ///< why it fits nowhere
};

/// The daemon is about to exit.
struct Stopping {
  bool restore = false;  ///< restore all VMs' original affinity and limits
};

using Event = std::variant<DomainsChanged, SampleTaken, ActionProgressed, TransfersReported,
                           SourceChanged, CommandReceived, ConfigChanged, TopologyChanged,
                           LoadExpected, LoadsForecast, MemoryLimitsSet, RoomSearched, Stopping>;

// ---- out ----

struct Reply {
  std::int64_t token = 0;
  Result<Answer> answer;
};

struct HomeDecided {
  ClientId client;
  NodeId home;  ///< negative: all homes of the VM are given up
};

/// The measured effect of an action, as opposed to its prediction.
struct OutcomeMeasured : MeasuredOutcome {
  Bytes moved;
  Microseconds took;
};

/// A completed epoch, for the history.
struct EpochEnded {
  Snapshot snapshot;
  Plan plan;
};

struct LogLine {
  Severity severity{};
  std::string message;
  std::multimap<std::string, std::string> fields;  ///< VM, for each; ACTION, REASON
};

/// A VM that was not admitted, for the history.
struct StartNotAdmitted {
  std::int64_t action = 0;  ///< the start's number in the history
  std::int64_t epoch = 0;
  VmId vm;
  std::string name;
  std::string detail;  ///< whether it was refused, and why
};

/// Something that happened to a reservation, for the history.
struct ReservationChanged {
  std::string reservation;
  ReservationStep step{};
  std::optional<VmId> vm;  ///< the VM concerned
  std::string vm_name;     ///< empty without one
  Bytes memory;            ///< reserved, taken, returned, or left at the end
  std::string detail;      ///< a sentence, as in the log
};

/// A VM's policy to be written into its metadata. The writer of the metadata then answers `token`.
struct PolicyWrite {
  std::int64_t token = 0;
  VmId vm;
  std::string name;                     ///< of the VM, for messages
  std::vector<PolicySetting> settings;  ///< all of them; empty: no policy
  bool persistent = false;              ///< also written into the definition
};

/// A request to search for the cheapest moves that make room for a VM. Answered with RoomSearched,
/// even if the search is impossible.
struct RoomSearch {
  VmId vm;
  RoomNeeded needed;
  std::int64_t seconds = 1;  ///< time limit
};

/// The answer to the command once the policy has been written.
[[nodiscard]] DoneView done_view(const PolicyWrite& policy);

struct Effects {
  std::vector<migration::Order> orders;  ///< to be carried out, in this order
  /// VMs whose orders and transfers must be given up before `orders` are submitted.
  std::vector<VmId> cancelled;
  std::optional<bool> pause_transfers;
  std::optional<Options> options;       ///< to be used for page migration from now on
  std::optional<bool> memory_pressure;  ///< true: page moves stop; false: they resume
  std::vector<Reply> replies;
  std::vector<HomeDecided> homes;
  std::vector<OutcomeMeasured> outcomes;
  std::optional<EpochEnded> epoch;
  std::vector<StartNotAdmitted> not_admitted;
  /// If set: the state that decides on starts while the daemon is not running has changed.
  std::optional<AdmissionState> admission;
  std::vector<PolicyWrite> policies;
  std::optional<RoomSearch> room_search;  ///< never while an earlier search is unanswered
  /// If set: all VMs that are released now, to be stored for the next start.
  std::optional<std::map<VmId, VmProcess>> released;
  /// If set: all current reservations, to be stored for the next start.
  std::optional<std::vector<Reservation>> reservations;
  std::vector<ReservationChanged> reservation_changes;
  /// If set: to be stored for the next start, before `memory` is carried out.
  std::optional<MemoryOriginals> memory_originals;
  std::vector<MemoryChange> memory;  ///< each is answered with MemoryLimitsSet
  std::vector<LogLine> log;

  void say(Severity severity, std::string message) {
    log.push_back({severity, std::move(message), {}});
  }
  /// Logs a message about the VM of this name; empty if the name is not known.
  void say_of_vm(const std::string& vm, Severity severity, std::string message) {
    say(severity, std::move(message));
    if (!vm.empty()) {
      log.back().fields.emplace("VM", vm);
    }
  }
};

}  // namespace vmnuma::balancer
