// SPDX-License-Identifier: Apache-2.0
/// All state of the controller, part by part. Internal to this folder and the recorder.
///
/// Each part owns its state and has a header that states its properties; it sees of other parts
/// only what it is passed. Only the handlers of events (controller.cc, actions.h) and the commands
/// see all parts. Data flows one way: a sample is taken into the ledger, which gives the epoch's
/// snapshot; the plan is made from that, its actions become orders, and their outcomes are measured
/// in later snapshots.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "balancer/controller/events.h"
#include "balancer/controller/health.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/controller/memory_control.h"
#include "balancer/controller/memory_pressure.h"
#include "balancer/controller/orders_under_way.h"
#include "balancer/controller/room_waits.h"
#include "balancer/controller/starts.h"
#include "balancer/controller/totals.h"
#include "balancer/core/ledger.h"
#include "balancer/core/outcomes.h"
#include "balancer/core/planner.h"
#include "stats/reports/node_stays.h"

namespace vmnuma::balancer {

/// What a controller needs to know of the time before the daemon's start.
struct Remembered {
  std::map<ClientId, NodeId> remembered_homes;  ///< from the history
  Originals originals;                          ///< collected from all past orders
  bool originals_known = true;                  ///< none of those orders is missing
  std::map<VmId, VmProcess> released;
  std::vector<Reservation> reservations;
  MemoryOriginals memory_originals;
  TouchedUnits touched_units;  ///< kept up to date by service/memory_worker.h
};

/// The initial data of a controller.
struct ControllerSetup : Settings, Remembered {
  std::string version;
  std::string uri;
  std::string host_name;
  std::string history_path;
  std::string history_notice;  ///< what had to be set aside at startup; empty if nothing
  Topology topology;
  std::optional<MeasuredMemory> measured_memory;  ///< absent: distances are from the firmware
  /// VMs that were told where to start before this run of the daemon.
  std::vector<StartingVm> expected;
  std::int64_t last_action = 0;  ///< the highest number in the history
  /// Makes the plans; replaced only by tests of how broken plans are handled.
  Plan (*make_plan)(const Snapshot&, const Options&, const Circumstances&) = balancer::make_plan;
};

/// Results of the last epoch.
struct LastEpoch {
  Snapshot snapshot;
  Plan plan;
  std::vector<std::string> plan_violations;
  NodeIndex last_placed_on = kNoNode;
  std::vector<migration::TransferProgress> transfers;  ///< as last reported
  std::int64_t wall_unix_s = 0;
  Microseconds late;
  Microseconds late_most;  ///< of all epochs
  bool breaker_was_open = false;
  std::optional<std::int32_t> kernel_numa_balancing;
  std::optional<SchedExt> sched_ext;
  CacheScheduling cache_scheduling = CacheScheduling::kNone;
  std::optional<std::int64_t> wakeup_pairs;
};

/// Proposals that were logged, each with the last epoch whose plan contained it.
using Proposals = std::map<std::tuple<Reason, ClientId, NodeIndex>, std::int64_t>;

/// State that is only displayed.
struct Figures {
  stats::NodeStays stays;
  Totals totals;
  Proposals proposals;
};

struct ControllerState {
  explicit ControllerState(ControllerSetup start);

  ControllerSetup setup;  ///< except what the parts below have taken over from it
  Ledger ledger;
  std::vector<VmDescription> running;  ///< as libvirt reports them
  std::vector<VmId> unreadable;        ///< VMs that run as well but could not be described yet
  ManagedVms vms;
  LastEpoch last;
  OrdersUnderWay orders;
  Outcomes outcomes;
  Health health;
  MemoryPressure pressure;
  MemoryControl memory;
  Starts starts;
  Reservations reservations;  ///< changes to it must also be kept in last.snapshot
  RoomMaking room_making;
  Figures figures;

  [[nodiscard]] Mode mode() const { return health.mode(setup.mode); }
  [[nodiscard]] bool acts() const { return health.acts(setup.mode); }
  [[nodiscard]] bool is_epoch_measured() const { return last.snapshot.epoch > 0; }
  /// The VMs that run, including those that could not be described yet.
  [[nodiscard]] std::set<VmId> running_vms() const;
  /// Passes the options in `setup`, and the source of the price of remote memory, to the ledger. To
  /// be called when either has changed.
  void options_changed();
  /// The circumstances of the next plan.
  [[nodiscard]] Circumstances circumstances() const {
    return {last.last_placed_on, outcomes.breaker_open(last.snapshot.epoch + 1)};
  }
  /// The pins of the host after these relocations.
  [[nodiscard]] CpuPins cpu_pins(const std::vector<Relocation>& relocations) const;
  /// The last epoch, updated with what has been decided since: homes and second nodes by orders of
  /// the plan and by commands, and VMs that are left alone.
  [[nodiscard]] Snapshot since_the_plan() const;
  [[nodiscard]] HostNow host_now() const;
  /// Finds a VM. Error: not-found, naming the closest match.
  [[nodiscard]] Result<const VmRecord*> find_vm(const std::string& name_or_uuid) const;
  /// Steers memory limits by the newest readings; does nothing unless orders are currently given.
  void steer_memory(Effects& effects);
};

}  // namespace vmnuma::balancer
