// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/reserving.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "balancer/controller/commands.h"
#include "balancer/controller/room_needed.h"
#include "balancer/protocol/time_text.h"
#include "placement/advice/words.h"
#include "placement/base/mapped.h"
#include "placement/base/sorted.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kLongestName = 256;
constexpr std::int64_t kLongestReservation_s = std::int64_t{100'000} * 86'400;
/// Smaller differences are due to rounding, or to a sample that takes long.
constexpr std::int64_t kClockWasSet_s = 5;

std::string holder_text(const ReserveRequest& request) {
  const std::string vm = request.vm.value_or("");
  const std::string group = request.group.value_or("");
  std::vector<std::string> holders;
  if (!vm.empty()) {
    holders.push_back(fmt::format("VM {}'{}'", vm == group ? "or group " : "", vm));
  }
  if (!group.empty() && vm != group) {
    holders.push_back(fmt::format("group '{}'", group));
  }
  if (request.owner) {
    holders.push_back(fmt::format("owner '{}'", *request.owner));
  }
  return fmt::format("{}", fmt::join(holders, " and "));
}

std::vector<NodeId> nodes_of(const Reservation& reservation) {
  std::vector<NodeId> nodes = reservation.homes;
  for (const MemoryOnNode& part : reservation.memory) {
    nodes.push_back(part.node);
  }
  return sorted_unique(std::move(nodes));
}

/// Checks the arguments. Error: invalid-argument.
Result<void> check(const ReserveRequest& request, const ControllerState& state) {
  if (std::max({request.name.size(), request.vm.value_or("").size(),
                request.group.value_or("").size(), request.owner.value_or("").size()}) >
      kLongestName) {
    return refused(
        fmt::format("the name of a reservation, and that of the VM, group or owner it is for, must "
                    "have at most {} bytes",
                    kLongestName));
  }
  if (state.reservations.find(request.name) != nullptr) {
    return refused(fmt::format("there is a reservation '{}' already", request.name));
  }
  if (state.reservations.all().size() >= Reservations::kMost) {
    return refused(
        fmt::format("there are {} reservations already, which is the limit", Reservations::kMost));
  }
  if (request.vcpus < 1 || request.vcpus > kMostVcpus) {
    return refused(fmt::format("a VM has 1 to {} vCPUs, not {}", kMostVcpus, request.vcpus));
  }
  if (request.memory_bytes < 1 || request.memory_bytes > (kMostMemoryMib << 20U)) {
    return refused(fmt::format("a VM has 1 to {} bytes of memory, not {}", kMostMemoryMib << 20U,
                               request.memory_bytes));
  }
  if (request.until_unix_s && *request.until_unix_s <= state.last.wall_unix_s) {
    return refused(fmt::format("{} is in the past", time_text(*request.until_unix_s)));
  }
  if (request.lasting_s && request.until_unix_s) {
    return refused("a reservation ends at a time or after a duration, not both");
  }
  if (request.lasting_s && (*request.lasting_s < 1 || *request.lasting_s > kLongestReservation_s)) {
    return refused(fmt::format("a reservation lasts 1 to {} s, not {}", kLongestReservation_s,
                               *request.lasting_s));
  }
  const Topology& topology = state.last.snapshot.topology;
  for (const NodeId node : request.nodes) {
    const auto index = topology.index_of(node);
    if (!index || !topology.can_be_home(*index)) {
      return refused(fmt::format("node {} cannot be a home on this host", node.value));
    }
  }
  const bool has_pool = std::ranges::any_of(topology.nodes, [&](const Node& node) {
    return std::ranges::find(node.huge_pages, Bytes{request.huge_page_bytes.value_or(0)},
                             &HugePagePool::page_size) != node.huge_pages.end();
  });
  if (request.huge_page_bytes && !has_pool) {
    return refused(
        fmt::format("this host has no huge pages of {} KiB", *request.huge_page_bytes / 1024));
  }
  return {};
}

/// Describes a VM that would take up the reservation.
VmDescription reserved_vm(const ReserveRequest& request) {
  VmDescription vm;
  vm.id.uuid.fill(0xfd);  // no UUID generator produces this
  vm.name = request.name;
  set_size(vm, request.vcpus, kMiB * whole_mib(Bytes{request.memory_bytes}));
  vm.huge_page_size = Bytes{request.huge_page_bytes.value_or(0)};
  vm.policy.nodes = sorted_unique(request.nodes);
  vm.policy.topology_policy = TopologyPolicy::kRestricted;
  vm.policy.topology_scope = TopologyScope::kClient;
  return vm;
}

std::vector<ReservedMemoryView> reserved_memory_view(const std::vector<MemoryOnNode>& memory) {
  return mapped(memory, [](const MemoryOnNode& part) {
    return ReservedMemoryView{part.node, part.page_size.value, part.memory.value};
  });
}

}  // namespace

void report_reservations(ControllerState& state, ReservationChanged change, Effects& effects) {
  state.reservations.keep_in(state.last.snapshot);
  effects.reservations = state.reservations.all();
  LogLine line{Severity::kNotice, change.detail, {}};
  if (!change.vm_name.empty()) {
    line.fields.emplace("VM", change.vm_name);
  }
  effects.log.push_back(std::move(line));
  effects.reservation_changes.push_back(std::move(change));
}

// ---- commands ----

Result<ReservationsView> reply_to(const ControllerState& state,
                                  const ReservationsRequest& /*request*/) {
  return reservations_view(state.reservations.all());
}

Result<DoneView> carry_out(ControllerState& state, const ReserveRequest& asked, Effects& effects) {
  VMNUMA_RETURN_IF_ERROR(check_is_measured(state.last.snapshot));
  VMNUMA_RETURN_IF_ERROR(check(asked, state));
  ReserveRequest request = asked;
  if (request.owner && request.owner->empty()) {
    request.owner.reset();
  }
  if (!request.vm && !request.group && !request.owner) {
    request.vm = request.group = request.name;
  }
  if (request.lasting_s) {
    request.until_unix_s = state.last.wall_unix_s + *request.lasting_s;
  }
  const VmDescription vm = reserved_vm(request);
  HostNow now = state.host_now();
  Result<RoomFound> room = state.starts.room_for(now, vm);
  if (!room) {
    Error error = std::move(room).error();
    const auto needed = room_needed(now.snapshot.topology, vm);
    error.message = fmt::format(
        "nothing is reserved, {}{}", error.message,
        needed ? advice_on_room(now.snapshot, state.starts.free_for_any(now), *needed) : "");
    return tl::unexpected(std::move(error));
  }
  state.last.last_placed_on = now.last_placed_on;
  Reservation reservation;
  reservation.name = request.name;
  reservation.vm = request.vm.value_or("");
  if (const Result<VmId> id = parse_vm_id(reservation.vm)) {
    reservation.vm_id = *id;
    reservation.vm.clear();
  }
  reservation.group = request.group.value_or("");
  reservation.owner = request.owner.value_or("");
  reservation.vcpus = request.vcpus;
  reservation.homes = std::move(room->homes);
  reservation.memory = std::move(room->memory);
  reservation.until_unix_s = request.until_unix_s;
  reservation.shared = request.shared;
  reservation.lasting = request.lasting_s.has_value();
  std::string running_already;
  for (const auto& [id, running] : state.ledger.vms()) {
    if (reservation.is_for(running.description)) {
      reservation.served.push_back(id);
      running_already +=
          fmt::format("{}'{}'", running_already.empty() ? "" : ", ", running.description.name);
    }
  }
  const std::string what = fmt::format(
      "{} and {} MiB{} on {} for {}{}{}", counted(request.vcpus, "vCPU"),
      whole_mib(reservation.memory_left()),
      request.huge_page_bytes
          ? fmt::format(" of huge pages of {} KiB", *request.huge_page_bytes / 1024)
          : "",
      node_or_nodes(nodes_of(reservation)), holder_text(request), request.shared ? ", shared" : "",
      request.until_unix_s ? " until " + time_text(*request.until_unix_s) : "");
  const Bytes memory = reservation.memory_left();
  state.reservations.add(std::move(reservation));
  report_reservations(state,
                      {request.name, ReservationStep::kReserved, std::nullopt, "", memory,
                       fmt::format("reservation '{}' by command: {}", request.name, what)},
                      effects);
  return DoneView{fmt::format("reserved {}{}", what,
                              running_already.empty()
                                  ? ""
                                  : fmt::format("; {} runs already and takes none of it before it "
                                                "has been stopped and started again",
                                                running_already)),
                  {}};
}

Result<DoneView> carry_out(ControllerState& state, const UnreserveRequest& request,
                           Effects& effects) {
  const Reservation* reservation = state.reservations.find(request.name);
  if (reservation == nullptr) {
    std::vector<std::string_view> names =
        mapped<std::string_view>(state.reservations.all(), &Reservation::name);
    return failure(ErrorCode::kNotFound, fmt::format("there is no reservation '{}'{}", request.name,
                                                     did_you_mean(request.name, names)));
  }
  const Bytes left = reservation->memory_left();
  state.reservations.remove(request.name);
  report_reservations(state,
                      {request.name, ReservationStep::kGivenUp, std::nullopt, "", left,
                       fmt::format("reservation '{}' given up by command", request.name)},
                      effects);
  return DoneView{fmt::format("reservation '{}' is given up, {} MiB are available to all VMs again",
                              request.name, whole_mib(left)),
                  {}};
}

// ---- other causes of changes ----

void follow_clock(ControllerState& state, std::int64_t wall_unix_s_before, Effects& effects) {
  const std::int64_t passed_s = state.last.snapshot.epoch_length.value / 1'000'000;
  const std::int64_t set_by_s = state.last.wall_unix_s - wall_unix_s_before - passed_s;
  if (std::abs(set_by_s) < kClockWasSet_s) {
    return;
  }
  for (RoomWait& wait : state.room_making.waits) {
    wait.until_unix_s += set_by_s;
  }
  if (state.reservations.clock_set(set_by_s)) {
    effects.reservations = state.reservations.all();
  }
}

void expire_reservations(ControllerState& state, Effects& effects) {
  for (const Reservation& over : state.reservations.expire(state.last.wall_unix_s)) {
    report_reservations(
        state,
        {over.name, ReservationStep::kExpired, std::nullopt, "", over.memory_left(),
         fmt::format("reservation '{}' has expired, {} MiB are available to all VMs again",
                     over.name, whole_mib(over.memory_left()))},
        effects);
  }
}

void forget_stopped(ControllerState& state, Effects& effects) {
  const std::set<VmId> running = state.running_vms();
  const auto back = state.reservations.forget_stopped(
      [&running](const VmId& vm) { return running.contains(vm); });
  if (!back) {
    return;
  }
  effects.reservations = state.reservations.all();
  for (const CameBack& part : *back) {
    report_reservations(
        state,
        {part.reservation, ReservationStep::kCameBack, part.vm, part.vm_name, part.memory,
         fmt::format("VM '{}' has stopped, {} MiB of reservation '{}' are kept again", part.vm_name,
                     whole_mib(part.memory), part.reservation)},
        effects);
  }
}

std::vector<NodeId> take_up_reservations(ControllerState& state, const VmDescription& vm,
                                         const std::vector<NodeId>& told, Effects& effects) {
  std::vector<NodeId> nodes;
  for (const TakenUp& taken : state.reservations.take_up(vm, told)) {
    for (const NodeId node : taken.nodes) {
      if (std::ranges::find(nodes, node) == nodes.end()) {
        nodes.push_back(node);
      }
    }
    report_reservations(state,
                        {taken.reservation, ReservationStep::kTakenUp, vm.id, vm.name, taken.memory,
                         fmt::format("VM '{}' takes up {} MiB of reservation '{}'{}", vm.name,
                                     whole_mib(taken.memory), taken.reservation,
                                     taken.ended ? ", which ends with that" : "")},
                        effects);
  }
  return nodes;
}

// ---- shown ----

ReservationsView reservations_view(const std::vector<Reservation>& reservations) {
  ReservationsView view;
  for (const Reservation& reservation : reservations) {
    ReservationView& row = view.reservations.emplace_back();
    row.name = reservation.name;
    row.vm = reservation.vm;
    row.vm_uuid = reservation.vm_id ? to_text(*reservation.vm_id) : "";
    row.group = reservation.group;
    row.vcpus = reservation.vcpus;
    row.homes = reservation.homes;
    row.memory = reserved_memory_view(reservation.memory);
    row.until_unix_s = reservation.until_unix_s;
    for (const VmId& vm : reservation.served) {
      row.served.push_back(to_text(vm));
    }
    row.owner = reservation.owner;
    row.shared = reservation.shared;
    row.lasting = reservation.lasting;
    for (const SharedPart& part : reservation.taken) {
      row.taken.push_back(
          {part.name, to_text(part.vm), part.vcpus, reserved_memory_view(part.memory)});
    }
  }
  return view;
}

}  // namespace vmnuma::balancer
