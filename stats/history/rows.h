// SPDX-License-Identifier: Apache-2.0
/// The history's inputs and outputs, as plain values.
///
/// Times are wall-clock (UTC), so that people understand them and they stay valid after a restart.
/// CPU times are core-microseconds per epoch at every resolution: a minute's or hour's row is the
/// average of its epochs, and its `epoch_length` is their average length, so the quotient of the
/// two is always a share of CPUs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/names.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::stats {

/// Milliseconds since 1970 (UTC).
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

// ---- actions ----

enum class ActionState {
  kOpen,     ///< begun; after a crash the executor finishes or undoes it
  kDone,     ///< carried out
  kUndone,   ///< begun, failed and undone
  kDropped,  ///< not begun, or given up with nothing to undo
};
/// "open", "done", "undone", "dropped".
[[nodiscard]] constexpr auto names(ActionState) {
  return names_in_order<ActionState>("open", "done", "undone", "dropped");
}

/// One client's part of an action. A swap has two, a wide VM's placement one per client.
struct RelocationRow {
  VmId vm;
  std::string vm_name;
  std::int32_t client = 0;
  NodeId from;            ///< negative at the first placement
  NodeId to;              ///< equals `from` if only memory is pulled
  Bytes memory;           ///< memory to be moved
  NodeId spills_to = {};  ///< second node whose CPUs it may use, too; negative if none
  bool operator==(const RelocationRow&) const = default;
};

/// An action as recorded when it begins.
struct ActionRow {
  std::int64_t id = 0;  ///< unique in the history; see History::last_action_id()
  WallTime time;
  std::int64_t epoch = 0;
  std::string reason;  ///< name_of(Reason) of the version that wrote it
  std::vector<RelocationRow> relocations;
  Prediction predicted;
  std::string order_text;  ///< the whole order, used to finish or undo it; opaque here
  bool operator==(const ActionRow&) const = default;
};

struct StepRow {
  std::int32_t number = 0;
  std::string text;
  std::optional<std::string> outcome;  ///< absent if the step has not ended
  bool operator==(const StepRow&) const = default;
};

/// The measured effect of an action some epochs later; the counterpart of `predicted`.
struct ActionOutcome {
  CpuTime lost_before;  ///< of the whole host per epoch
  CpuTime lost_after;
  Permille imbalance_before;
  Permille imbalance_after;
  std::optional<Permille> locality_before;  ///< of the clients that moved; absent if not known
  std::optional<Permille> locality_after;
  Bytes moved;
  std::chrono::milliseconds took{};
  bool operator==(const ActionOutcome&) const = default;
};

/// An action that a crash left open.
struct OpenAction {
  ActionRow action;
  std::vector<StepRow> steps;  ///< by number
  bool operator==(const OpenAction&) const = default;
};

/// A past action, with its result.
struct PastAction {
  ActionRow action;
  ActionState state{};
  std::string detail;  ///< why the action was undone or dropped
  std::optional<ActionOutcome> outcome;
  bool operator==(const PastAction&) const = default;
};

/// A VM of which the history has samples or actions. A renamed VM appears once per name.
struct PastVm {
  std::string uuid;
  std::string name;
  bool operator==(const PastVm&) const = default;
};

/// Selects actions; an unset criterion matches all.
struct ActionFilter {
  std::optional<WallTime> since;
  std::optional<WallTime> until;  ///< before it
  std::string vm;                 ///< a VM's name or UUID; any of its relocations counts
  std::optional<NodeId> node;     ///< that a client left or reached
  std::string reason;
  std::int64_t limit = 100;
};

// ---- reservations ----

/// An event of a reservation, which is room of a node that is kept for future VMs.
struct ReservationEventRow {
  WallTime time;
  std::string reservation;  ///< its name
  std::string what;         ///< the event's name in the version that wrote it
  std::string vm_uuid;      ///< of the VM concerned; empty: none
  std::string vm_name;
  Bytes memory;        ///< the memory concerned
  std::string detail;  ///< a sentence
  bool operator==(const ReservationEventRow&) const = default;
};

/// Selects events; an unset criterion matches all.
struct ReservationEventFilter {
  std::optional<WallTime> since;
  std::string reservation;
  std::int64_t limit = 100;
};

// ---- samples ----

/// The resolution of samples: what a row covers, in seconds, as in the column `span`.
enum class SampleSpan : std::int64_t { kEpoch = 0, kMinute = 60, kHour = 3600 };

struct NodeSampleRow {
  NodeId node;
  CpuTime used;  ///< by clients
  CpuTime non_vm;
  CpuTime capacity;
  CpuTime demand;
  CpuTime entitled;
  CpuTime owed;
  Permille load_average;
  std::int32_t vcpus = 0;
  Bytes free;  ///< kept in KiB, rounded down
  Bytes total;
  CpuTime threads;  ///< logical CPUs x epoch
  bool operator==(const NodeSampleRow&) const = default;
};

/// Where a client's memory is. Stored in KiB, rounded down.
struct MemorySplit {
  Bytes local;
  Bytes remote;
  bool operator==(const MemorySplit&) const = default;
};

struct ClientSampleRow {
  VmId vm;
  // Properties of the VM, stored once for all of its rows: the latest values.
  std::string vm_name;
  std::int64_t vm_memory_mib = 0;
  std::int64_t vm_shares = 100;  ///< cpu.weight
  std::string guest_os;          ///< libosinfo's id; may be empty
  std::int32_t client = 0;
  NodeId home;  ///< of an average: the last home; negative if there was none
  std::int32_t vcpus = 0;
  CpuTime used;
  CpuTime ready;
  CpuTime demand;
  CpuTime entitled;
  CpuTime owed;
  std::optional<MemorySplit> memory;  ///< absent if unknown or if the client has no home
  bool operator==(const ClientSampleRow&) const = default;
};

struct VmSampleRow {
  VmId vm;  ///< must have a client row, too
  VmFigures figures;
  bool operator==(const VmSampleRow&) const = default;
};

/// Everything stored for one epoch.
struct EpochRows {
  WallTime time;  ///< its end
  Microseconds epoch_length;
  std::vector<NodeSampleRow> nodes;
  std::vector<ClientSampleRow> clients;
  std::vector<VmSampleRow> vms = {};
};

/// A stored row: that of one epoch, or the average of `epochs` rows.
template <class Row>
struct Kept {
  WallTime time;  ///< the end of an epoch; the beginning of a minute or hour
  std::int64_t epochs = 1;
  Microseconds epoch_length;
  Row row;
  bool operator==(const Kept&) const = default;
};

/// Selects samples: `since` <= time < `until`.
struct SampleFilter {
  SampleSpan span = SampleSpan::kEpoch;
  WallTime since;
  WallTime until = WallTime::max();
  std::int64_t limit = 100000;  ///< the oldest ones
};

// ---- homes ----

struct HomeRow {
  VmId vm;
  std::int32_t client = 0;
  NodeId node;
  bool operator==(const HomeRow&) const = default;
};

}  // namespace vmnuma::stats
