// SPDX-License-Identifier: Apache-2.0
/// The control socket's requests: what a client may ask of the daemon.
///
/// Problem: the daemon has extensive rights and reads whatever any member of a group sends to it.
/// Approach: one JSON object per line, versioned, and a closed set of commands, each a struct with
/// its arguments. Everything is checked here, so that code outside this folder sees only valid
/// requests. Everything about a command is in its struct: its name (`kCommand`), who may give it
/// (`kRights`), the type of its answer (`View`), and its arguments, listed once for reading and
/// writing (`visit`): `fields.required(NAME, value)` and `fields.optional(NAME, value)`. A value
/// may also be a list, even of structs that list their own fields.
///
///     {"version":1,"id":7,"command":"explain","args":{"vm":"web1"}}
///
/// Terms: *line*, one request or answer, ended by '\n'; *id*, a number chosen by the client (0 if
/// it gives none) that is returned in the answer. Properties:
///  - a line that is too long, nested too deeply or has too many values is refused before it is
///    parsed, so that no line takes more than a few milliseconds;
///  - every line gives a request or an error, whatever its bytes, and the error carries the id if
///    the line had one;
///  - an unknown command or argument is an error that names the closest match;
///  - a request that is encoded and parsed is the same request;
///  - a command that changes something is reserved for root and the daemon's own user.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/model/reason.h"
#include "stats/reports/report.h"

namespace vmnuma::balancer {

inline constexpr std::int64_t kProtocolVersion = 1;
inline constexpr std::size_t kLongestRequest = std::size_t{64} * 1024;
inline constexpr std::size_t kDeepestRequest = 8;
/// The most values in a line, counted by commas and brackets outside strings.
inline constexpr std::size_t kMostValues = 8192;
inline constexpr std::int64_t kMostHistoryRows = 1000;
/// The most vCPUs of a VM that does not run yet.
inline constexpr std::int32_t kMostVcpus = 4096;
inline constexpr std::int64_t kMostMemoryMib = std::int64_t{64} << 20U;
/// The most entries of each kind in one WhatIfRequest.
inline constexpr std::size_t kMostSupposed = 64;

/// Who may give a command.
enum class Rights {
  kMember,  ///< every member of the socket's group: it changes nothing
  kRoot,    ///< root and the daemon's own user
};

struct StatusRequest {
  static constexpr std::string_view kCommand = "status";
  static constexpr Rights kRights = Rights::kMember;
  using View = StatusView;
  bool operator==(const StatusRequest&) const = default;
};

/// All nodes and clients in their current state, and the counters.
struct HostRequest {
  static constexpr std::string_view kCommand = "host";
  static constexpr Rights kRights = Rights::kMember;
  using View = HostView;
  bool operator==(const HostRequest&) const = default;
};

/// The state of memory, VM by VM.
struct MemoryRequest {
  static constexpr std::string_view kCommand = "memory";
  static constexpr Rights kRights = Rights::kMember;
  using View = MemoryView;
  bool operator==(const MemoryRequest&) const = default;
};

/// One of the tables in stats/reports, by name ("numa-pnode").
struct StatsRequest {
  static constexpr std::string_view kCommand = "stats";
  static constexpr Rights kRights = Rights::kMember;
  using View = stats::Report;
  std::string type;
  static void visit(auto& fields, auto& self) { fields.required("type", self.type); }
  bool operator==(const StatsRequest&) const = default;
};

struct ExplainRequest {
  static constexpr std::string_view kCommand = "explain";
  static constexpr Rights kRights = Rights::kMember;
  using View = ExplainView;
  std::string vm;  ///< name or UUID, as everywhere below
  static void visit(auto& fields, auto& self) { fields.required("vm", self.vm); }
  bool operator==(const ExplainRequest&) const = default;
};

/// The reason recorded in the history for a start that was not admitted.
inline constexpr std::string_view kNotAdmittedReason = "admission";

/// All reasons that an action in the history can have.
[[nodiscard]] constexpr auto history_reasons() {
  constexpr auto kActions = names(Reason{});
  std::array<std::string_view, kActions.size() + 1> reasons{};
  std::copy(kActions.begin(), kActions.end(), reasons.begin());
  reasons.back() = kNotAdmittedReason;
  return reasons;
}

/// Moves, newest first; every given filter must match.
struct HistoryRequest {
  static constexpr std::string_view kCommand = "history";
  static constexpr Rights kRights = Rights::kMember;
  using View = HistoryView;
  std::int64_t limit = 50;                   ///< 1..kMostHistoryRows
  std::optional<std::int64_t> since_unix_s;  ///< "since" in JSON, as "2025-01-31T12:00:00Z"
  std::optional<std::int64_t> until_unix_s;  ///< "until" in JSON, in the same form; exclusive
  std::optional<std::string> vm;
  std::optional<NodeId> node;         ///< as source or destination
  std::optional<std::string> reason;  ///< one of history_reasons()
  static void visit(auto& fields, auto& self) {
    fields.optional("limit", self.limit);
    fields.optional_time("since", self.since_unix_s);
    fields.optional_time("until", self.until_unix_s);
    fields.optional("vm", self.vm);
    fields.optional("node", self.node);
    fields.optional("reason", self.reason);
  }
  bool operator==(const HistoryRequest&) const = default;
};

/// Recent events from the log that the daemon still has; every given filter must match.
struct EventsRequest {
  static constexpr std::string_view kCommand = "events";
  static constexpr Rights kRights = Rights::kMember;
  using View = EventsView;
  std::int64_t limit = 50;                   ///< 1..kMostHistoryRows; the newest ones
  std::int64_t after = 0;                    ///< only those with a higher number
  std::optional<std::int64_t> since_unix_s;  ///< as in HistoryRequest
  std::optional<std::string> vm;             ///< name or UUID
  Severity level = Severity::kInfo;          ///< this severity or worse
  static void visit(auto& fields, auto& self) {
    fields.optional("limit", self.limit);
    fields.optional("after", self.after);
    fields.optional_time("since", self.since_unix_s);
    fields.optional("vm", self.vm);
    fields.optional("level", self.level);
  }
  bool operator==(const EventsRequest&) const = default;
};

struct PlanRequest {
  static constexpr std::string_view kCommand = "plan";
  static constexpr Rights kRights = Rights::kMember;
  using View = PlanView;
  bool operator==(const PlanRequest&) const = default;
};

struct PauseRequest {
  static constexpr std::string_view kCommand = "pause";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  bool operator==(const PauseRequest&) const = default;
};

struct ResumeRequest {
  static constexpr std::string_view kCommand = "resume";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  bool operator==(const ResumeRequest&) const = default;
};

struct OptionsListRequest {
  static constexpr std::string_view kCommand = "options-list";
  static constexpr Rights kRights = Rights::kMember;
  using View = OptionsView;
  bool operator==(const OptionsListRequest&) const = default;
};

struct OptionsGetRequest {
  static constexpr std::string_view kCommand = "options-get";
  static constexpr Rights kRights = Rights::kMember;
  using View = OptionView;
  std::string name;
  static void visit(auto& fields, auto& self) { fields.required("name", self.name); }
  bool operator==(const OptionsGetRequest&) const = default;
};

/// Sets an option. The owner of the options checks that it exists and the value is in range.
struct OptionsSetRequest {
  static constexpr std::string_view kCommand = "options-set";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string name;
  std::int64_t value = 0;
  bool persist = false;  ///< also for later starts of the daemon
  static void visit(auto& fields, auto& self) {
    fields.required("name", self.name);
    fields.required("value", self.value);
    fields.optional("persist", self.persist);
  }
  bool operator==(const OptionsSetRequest&) const = default;
};

/// Asks for the configuration in effect now, including options set since.
struct ConfigRequest {
  static constexpr std::string_view kCommand = "config";
  static constexpr Rights kRights = Rights::kMember;
  using View = ConfigView;
  bool operator==(const ConfigRequest&) const = default;
};

/// Moves one client of a VM.
struct MoveRequest {
  static constexpr std::string_view kCommand = "move";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string vm;
  NodeId node;
  std::optional<std::int32_t> client;  ///< may be left out for a VM with one client
  static void visit(auto& fields, auto& self) {
    fields.required("vm", self.vm);
    fields.required("node", self.node);
    fields.optional("client", self.client);
  }
  bool operator==(const MoveRequest&) const = default;
};

/// Moves clients at the same time, so that those leaving make room for those arriving: all or none.
struct MoveTogetherRequest {
  static constexpr std::string_view kCommand = "move-together";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  struct ClientMove {
    std::string vm;
    std::int32_t client = 0;
    NodeId from;  ///< refused if it no longer lives there
    NodeId to;
    static void visit(auto& fields, auto& self) {
      fields.required("vm", self.vm);
      fields.required("client", self.client);
      fields.required("from", self.from);
      fields.required("to", self.to);
    }
    bool operator==(const ClientMove&) const = default;
  };
  std::vector<ClientMove> moves;  ///< of different clients, 1..Arrangement::kMostTogether
  static void visit(auto& fields, auto& self) { fields.required("moves", self.moves); }
  bool operator==(const MoveTogetherRequest&) const = default;
};

/// Gives up the placement of one VM, or of all VMs, and restores what was found.
struct ReleaseRequest {
  static constexpr std::string_view kCommand = "release";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::optional<std::string> vm;
  static void visit(auto& fields, auto& self) { fields.optional("vm", self.vm); }
  bool operator==(const ReleaseRequest&) const = default;
};

/// Takes a released VM, or all of them, under management again.
struct ManageRequest {
  static constexpr std::string_view kCommand = "manage";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::optional<std::string> vm;
  static void visit(auto& fields, auto& self) { fields.optional("vm", self.vm); }
  bool operator==(const ManageRequest&) const = default;
};

/// Asks for the effect of supposed changes, which are not made.
struct WhatIfRequest {
  static constexpr std::string_view kCommand = "what-if";
  static constexpr Rights kRights = Rights::kMember;
  using View = WhatIfView;
  struct NewVm {
    std::int32_t vcpus = 0;
    std::int64_t memory_bytes = 0;
    std::optional<std::int64_t> load_pct;  ///< per vCPU; Numa.ColdStartPct if omitted
    std::int64_t weight = 100;             ///< cpu.weight
    static void visit(auto& fields, auto& self) {
      fields.required("vcpus", self.vcpus);
      fields.required("memory_bytes", self.memory_bytes);
      fields.optional("load_pct", self.load_pct);
      fields.optional("weight", self.weight);
    }
    bool operator==(const NewVm&) const = default;
  };
  struct OptionValue {
    std::string name;
    std::int64_t value = 0;
    static void visit(auto& fields, auto& self) {
      fields.required("name", self.name);
      fields.required("value", self.value);
    }
    bool operator==(const OptionValue&) const = default;
  };
  std::vector<NewVm> add;
  std::vector<std::string> remove;  ///< VMs
  std::vector<MoveRequest> move;
  std::vector<OptionValue> options;
  static void visit(auto& fields, auto& self) {
    fields.optional("add", self.add);
    fields.optional("remove", self.remove);
    fields.optional("move", self.move);
    fields.optional("options", self.options);
  }
  bool operator==(const WhatIfRequest&) const = default;
};

/// Begins a recording. There is one at a time, and it ends if no client takes its lines.
struct RecordStartRequest {
  static constexpr std::string_view kCommand = "record-start";
  static constexpr Rights kRights = Rights::kRoot;
  using View = RecordingView;
  bool anonymize = false;
  std::optional<std::int64_t> epochs;  ///< if omitted, it runs until it is stopped
  static void visit(auto& fields, auto& self) {
    fields.optional("anonymize", self.anonymize);
    fields.optional("epochs", self.epochs);
  }
  bool operator==(const RecordStartRequest&) const = default;
};

/// Takes the lines written since the last call.
struct RecordNextRequest {
  static constexpr std::string_view kCommand = "record-next";
  static constexpr Rights kRights = Rights::kRoot;
  using View = RecordingView;
  std::int64_t recording = 0;
  static void visit(auto& fields, auto& self) { fields.required("recording", self.recording); }
  bool operator==(const RecordNextRequest&) const = default;
};

/// Ends the recording and takes the last lines.
struct RecordStopRequest {
  static constexpr std::string_view kCommand = "record-stop";
  static constexpr Rights kRights = Rights::kRoot;
  using View = RecordingView;
  std::int64_t recording = 0;
  static void visit(auto& fields, auto& self) { fields.required("recording", self.recording); }
  bool operator==(const RecordStopRequest&) const = default;
};

/// One setting of a policy.
struct RequestedSetting {
  std::string key;
  std::optional<std::string> value;  ///< omitted: no value; in SetRequest, removes the key
  static void visit(auto& fields, auto& self) {
    fields.required("key", self.key);
    fields.optional("value", self.value);
  }
  bool operator==(const RequestedSetting&) const = default;
};

/// Announces that libvirt is about to start a VM. If libvirt will ask where, this is remembered
/// until it does. Refused with no-space if the VM's policy asks for admission control and it does
/// not fit, unless the client waits for room.
struct AnnounceRequest {
  static constexpr std::string_view kCommand = "announce";
  static constexpr Rights kRights = Rights::kRoot;
  using View = AnnouncedView;
  std::string vm;  ///< name
  std::string vm_uuid;
  std::int32_t vcpus = 0;                ///< 1..kMostVcpus, as in libvirt's own question
  std::int64_t memory_mib = 0;           ///< 1..kMostMemoryMib, as in libvirt's own question
  bool asks = true;                      ///< libvirt will ask where
  std::vector<RequestedSetting> policy;  ///< from its metadata
  std::vector<PciDevice> devices;  ///< passed through, with a known node; mediated ones by UUID
  std::vector<HostInterface> interfaces;  ///< host interfaces with a known node
  std::vector<HostDisk> disks;            ///< host block devices with a known node
  std::vector<CellBinding> numatune;      ///< at most one; none if libvirt asks where; empty: none
  struct Cell {
    std::vector<std::int32_t> vcpus;  ///< ascending
    std::int64_t memory_mib = 0;
    std::optional<std::int64_t> huge_page_kib;  ///< 0: ordinary pages; omitted: same as the VM
    std::vector<CellBinding> numatune;          ///< at most one; empty: same as the VM
    static void visit(auto& fields, auto& self) {
      fields.required("vcpus", self.vcpus);
      fields.required("memory_mib", self.memory_mib);
      fields.optional("huge_page_kib", self.huge_page_kib);
      fields.optional("numatune", self.numatune);
    }
    bool operator==(const Cell&) const = default;
  };
  std::vector<Cell> cells;         ///< guest NUMA cells; empty if none
  std::int64_t huge_page_kib = 0;  ///< the largest page size of its memory; 0: ordinary pages
  struct Pages {
    NodeId node;
    std::int64_t free = 0;
    std::int64_t total = 0;
    std::int64_t page_kib = 0;  ///< 0: of the size above
    static void visit(auto& fields, auto& self) {
      fields.required("node", self.node);
      fields.required("free", self.free);
      fields.required("total", self.total);
      fields.optional("page_kib", self.page_kib);
    }
    bool operator==(const Pages&) const = default;
  };
  std::vector<Pages> huge_pages;          ///< for each page size of its memory, the current pages
  std::int64_t waits_s = 0;               ///< how long the start can still wait; at most a day
  std::vector<NovaProject> nova_project;  ///< at most one; empty: not a VM of Nova
  static void visit(auto& fields, auto& self) {
    fields.required("vm", self.vm);
    fields.required("vm_uuid", self.vm_uuid);
    fields.required("vcpus", self.vcpus);
    fields.required("memory_mib", self.memory_mib);
    fields.optional("asks", self.asks);
    fields.optional("policy", self.policy);
    fields.optional("devices", self.devices);
    fields.optional("interfaces", self.interfaces);
    fields.optional("disks", self.disks);
    fields.optional("numatune", self.numatune);
    fields.optional("cells", self.cells);
    fields.optional("huge_page_kib", self.huge_page_kib);
    fields.optional("huge_pages", self.huge_pages);
    fields.optional("waits_s", self.waits_s);
    fields.optional("nova_project", self.nova_project);
  }
  bool operator==(const AnnounceRequest&) const = default;
};

/// Reports that an announced VM does not start, or has ended.
struct WithdrawRequest {
  static constexpr std::string_view kCommand = "withdraw";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string vm_uuid;
  static void visit(auto& fields, auto& self) { fields.required("vm_uuid", self.vm_uuid); }
  bool operator==(const WithdrawRequest&) const = default;
};

/// Asks where a VM of this size should start. From then on the VM counts as load there.
struct SuggestRequest {
  static constexpr std::string_view kCommand = "suggest";
  static constexpr Rights kRights = Rights::kRoot;
  using View = SuggestView;
  std::int32_t vcpus = 0;       ///< 1..kMostVcpus
  std::int64_t memory_mib = 0;  ///< 0..kMostMemoryMib; 0: not known
  static void visit(auto& fields, auto& self) {
    fields.required("vcpus", self.vcpus);
    fields.optional("memory_mib", self.memory_mib);
  }
  bool operator==(const SuggestRequest&) const = default;
};

/// Reserves room for a VM that does not exist yet. Refused with no-space if the room is not free
/// now.
struct ReserveRequest {
  static constexpr std::string_view kCommand = "reserve";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string name;
  std::int32_t vcpus = 0;                       ///< 1..kMostVcpus
  std::int64_t memory_bytes = 0;                ///< 1 B to kMostMemoryMib MiB
  std::optional<std::int64_t> huge_page_bytes;  ///< omitted: ordinary pages
  std::vector<NodeId> nodes;                    ///< only on these; empty: anywhere
  std::optional<std::string> vm;                ///< for the VM of this name or UUID,
  std::optional<std::string> group;             ///< and for this group,
  std::optional<std::string> owner;             ///< and for the VMs of this owner; if all three are
                                                ///< missing, VM and group are `name`
  std::optional<std::int64_t> until_unix_s;     ///< "until" in JSON; omitted: no end
  bool shared = false;                          ///< what a VM has taken comes back when it stops
  std::optional<std::int64_t> lasting_s;        ///< duration from now, instead of `until`
  static void visit(auto& fields, auto& self) {
    fields.required("name", self.name);
    fields.required("vcpus", self.vcpus);
    fields.required("memory_bytes", self.memory_bytes);
    fields.optional("huge_page_bytes", self.huge_page_bytes);
    fields.optional("nodes", self.nodes);
    fields.optional("vm", self.vm);
    fields.optional("group", self.group);
    fields.optional("owner", self.owner);
    fields.optional_time("until", self.until_unix_s);
    fields.optional("shared", self.shared);
    fields.optional("lasting_s", self.lasting_s);
  }
  bool operator==(const ReserveRequest&) const = default;
};

/// Ends a reservation.
struct UnreserveRequest {
  static constexpr std::string_view kCommand = "unreserve";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string name;
  static void visit(auto& fields, auto& self) { fields.required("name", self.name); }
  bool operator==(const UnreserveRequest&) const = default;
};

struct ReservationsRequest {
  static constexpr std::string_view kCommand = "reservations";
  static constexpr Rights kRights = Rights::kMember;
  using View = ReservationsView;
  bool operator==(const ReservationsRequest&) const = default;
};

/// Past events of reservations, newest first; every given filter must match.
struct ReservationHistoryRequest {
  static constexpr std::string_view kCommand = "reservation-history";
  static constexpr Rights kRights = Rights::kMember;
  using View = ReservationHistoryView;
  std::int64_t limit = 50;                   ///< 1..kMostHistoryRows
  std::optional<std::int64_t> since_unix_s;  ///< as in HistoryRequest
  std::optional<std::string> name;           ///< of the reservation
  static void visit(auto& fields, auto& self) {
    fields.optional("limit", self.limit);
    fields.optional_time("since", self.since_unix_s);
    fields.optional("name", self.name);
  }
  bool operator==(const ReservationHistoryRequest&) const = default;
};

/// The policy in effect for a VM, and the origin of each part.
struct PolicyRequest {
  static constexpr std::string_view kCommand = "policy";
  static constexpr Rights kRights = Rights::kMember;
  using View = PolicyView;
  std::string vm;
  static void visit(auto& fields, auto& self) { fields.required("vm", self.vm); }
  bool operator==(const PolicyRequest&) const = default;
};

/// Changes a VM's policy in its metadata.
struct SetRequest {
  static constexpr std::string_view kCommand = "set";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string vm;
  std::vector<RequestedSetting> settings;
  bool persistent = false;  ///< also for later starts of the VM
  static void visit(auto& fields, auto& self) {
    fields.required("vm", self.vm);
    fields.required("settings", self.settings);
    fields.optional("persistent", self.persistent);
  }
  bool operator==(const SetRequest&) const = default;
};

/// Asks for everything that the daemon knows and plans from, for programs that make their own
/// plans.
struct StateRequest {
  static constexpr std::string_view kCommand = "state";
  static constexpr Rights kRights = Rights::kMember;
  using View = StateView;
  bool operator==(const StateRequest&) const = default;
};

/// On a simulated host only: starts a new VM. Other daemons answer unsupported.
struct SimStartRequest {
  static constexpr std::string_view kCommand = "sim-start";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string vm;
  std::int64_t vcpus = 4;          ///< 1..kMostVcpus
  std::int64_t memory_mib = 8192;  ///< 2..kMostMemoryMib
  std::int64_t load_pct = 80;      ///< demand of each vCPU, in per cent of a CPU: 0..100
  static void visit(auto& fields, auto& self) {
    fields.required("vm", self.vm);
    fields.optional("vcpus", self.vcpus);
    fields.optional("memory_mib", self.memory_mib);
    fields.optional("load_pct", self.load_pct);
  }
  bool operator==(const SimStartRequest&) const = default;
};

/// On a simulated host only: ends a VM.
struct SimStopRequest {
  static constexpr std::string_view kCommand = "sim-stop";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string vm;
  static void visit(auto& fields, auto& self) { fields.required("vm", self.vm); }
  bool operator==(const SimStopRequest&) const = default;
};

/// On a simulated host only: sets the demand of a VM's vCPUs from now on.
struct SimLoadRequest {
  static constexpr std::string_view kCommand = "sim-load";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::string vm;
  std::int64_t load_pct = 0;  ///< of each vCPU, in per cent of a CPU: 0..100
  static void visit(auto& fields, auto& self) {
    fields.required("vm", self.vm);
    fields.required("load_pct", self.load_pct);
  }
  bool operator==(const SimLoadRequest&) const = default;
};

/// Only for a daemon that replays a recording: goes forward by this many epochs, or back if
/// negative.
struct SimStepRequest {
  static constexpr std::string_view kCommand = "sim-step";
  static constexpr Rights kRights = Rights::kRoot;
  using View = DoneView;
  std::int64_t epochs = 1;
  static void visit(auto& fields, auto& self) { fields.optional("epochs", self.epochs); }
  bool operator==(const SimStepRequest&) const = default;
};

using CommandVariant =
    std::variant<StatusRequest, StatsRequest, ExplainRequest, HistoryRequest, PlanRequest,
                 PauseRequest, ResumeRequest, OptionsListRequest, OptionsGetRequest,
                 OptionsSetRequest, MoveRequest, MoveTogetherRequest, ReleaseRequest, ManageRequest,
                 WhatIfRequest, RecordStartRequest, RecordNextRequest, RecordStopRequest,
                 AnnounceRequest, WithdrawRequest, SuggestRequest, HostRequest, PolicyRequest,
                 SetRequest, StateRequest, MemoryRequest, EventsRequest, ReserveRequest,
                 UnreserveRequest, ReservationsRequest, ReservationHistoryRequest, ConfigRequest,
                 SimStartRequest, SimStopRequest, SimLoadRequest, SimStepRequest>;

/// One of the requests above. Copied, moved and destroyed in one place: with so many alternatives,
/// the compiler would otherwise spend seconds on that in every file.
struct Command : CommandVariant {
  using CommandVariant::CommandVariant;
  Command();
  Command(const Command& other);
  Command(Command&& other) noexcept;
  Command& operator=(const Command& other);
  Command& operator=(Command&& other) noexcept;
  ~Command();
  bool operator==(const Command& other) const;
};

struct Request {
  std::int64_t id = 0;
  Command command;
  bool operator==(const Request&) const = default;
};

/// The reason why a line is not a request.
struct BadRequest {
  std::optional<std::int64_t> id;  ///< the line's id, if it could be read
  Error error;
};

/// Parses one line, with or without its '\n'. Errors: invalid-argument (too long, too deep, not
/// JSON, not a request, wrong arguments), not-found (unknown command), unsupported (another
/// version).
[[nodiscard]] tl::expected<Request, BadRequest> parse_request(std::string_view line);

/// The line for a request, with its '\n'.
[[nodiscard]] std::string encode_request(const Request& request);

/// The names of all commands, in the order of Command.
[[nodiscard]] std::vector<std::string_view> command_names();
using vmnuma::name_of;
[[nodiscard]] std::string_view name_of(const Command& command);

/// True for commands that only root may give, because they change how VMs are placed or how the
/// daemon decides.
[[nodiscard]] bool changes_something(const Command& command);

/// True if a peer with the effective user `peer_uid` (SO_PEERCRED, unix(7)) may give this command
/// to a daemon that runs as `own_uid`. Whether a user may connect at all depends on the socket's
/// mode and group.
[[nodiscard]] bool is_permitted(const Command& command, std::uint32_t peer_uid,
                                std::uint32_t own_uid);

}  // namespace vmnuma::balancer
