// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/room_making.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "balancer/controller/actions.h"
#include "balancer/controller/move_commands.h"
#include "balancer/controller/reserving.h"
#include "balancer/controller/views.h"
#include "balancer/core/guards.h"
#include "balancer/core/validator.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

/// A search gets a quarter of the remaining time, but at most this long.
constexpr std::int64_t kLongestSearch_s = 10;
constexpr std::int64_t kShareOfSearch = 4;
/// The result of a VM's wait is remembered for this long after its deadline, in case its hook is
/// late.
constexpr std::int64_t kRemembered_s = 60;
/// A waiting hook asks once per epoch, within these limits.
constexpr std::int64_t kAskAgainAtLeast_ms = 250;
constexpr std::int64_t kAskAgainAtMost_ms = 2000;

std::string reservation_name(const VmId& vm) {
  return "make-room " + to_text(vm);
}

void say(const RoomWait& wait, std::string_view what, Effects& effects) {
  effects.say_of_vm(wait.name, Severity::kNotice, fmt::format("VM '{}' {}", wait.name, what));
}

void give_up_reservation(ControllerState& state, const RoomWait& wait, Effects& effects) {
  const std::string name = reservation_name(wait.vm);
  if (const Reservation* reservation = state.reservations.find(name)) {
    const Bytes left = reservation->memory_left();
    state.reservations.remove(name);
    report_reservations(state,
                        {name, ReservationStep::kGivenUp, wait.vm, wait.name, left,
                         fmt::format("reservation '{}' is cancelled", name)},
                        effects);
  }
}

/// Reserves the room for the VM. False if there are too many reservations.
bool reserve(ControllerState& state, const RoomWait& wait, NodeId node, Effects& effects) {
  if (state.reservations.all().size() >= Reservations::kMost) {
    return false;
  }
  Reservation room;
  room.name = reservation_name(wait.vm);
  room.vm_id = wait.vm;
  room.vcpus = wait.needed.vcpus;
  room.homes = {node};
  room.memory = {{node, wait.needed.page_size, wait.needed.memory}};
  room.until_unix_s = wait.until_unix_s;
  room.lasting = true;
  ReservationChanged change{room.name,
                            ReservationStep::kReserved,
                            wait.vm,
                            wait.name,
                            wait.needed.memory,
                            fmt::format("reservation '{}': {} MiB on node {}, to make room for it",
                                        room.name, wait.needed.memory.value >> 20U, node.value)};
  state.reservations.add(std::move(room));
  report_reservations(state, std::move(change), effects);
  return true;
}

void end(ControllerState& state, RoomWait& wait, std::string became, Effects& effects) {
  wait.phase = RoomPhase::kOver;
  wait.steps.clear();
  wait.action = 0;
  wait.became = std::move(became);
  give_up_reservation(state, wait, effects);
  say(wait, "gets no room: " + wait.became, effects);
}

/// Searches again, because the moves that were found are no longer usable.
void start_over(ControllerState& state, RoomWait& wait, const std::string& because,
                Effects& effects) {
  if (wait.searches >= kMostRoomSearches) {
    end(state, wait, because, effects);
    return;
  }
  wait.phase = RoomPhase::kInLine;
  wait.steps.clear();
  wait.action = 0;
  give_up_reservation(state, wait, effects);  // otherwise the search would count it as taken
  say(wait, fmt::format("needs a new search for moves: {}", because), effects);
}

bool is_under_way(const RoomWait& wait) {
  return wait.phase == RoomPhase::kSearching || wait.phase == RoomPhase::kMoving;
}

/// True if all moves were made, an epoch has shown the result, and the VM still asks.
bool has_moved_in_vain(const RoomWait& wait, std::int64_t epoch) {
  return wait.phase == RoomPhase::kMoving && wait.steps.empty() && epoch > wait.moved_in_epoch + 1;
}

/// Searches for the first VM in line, unless room is being made for another one.
void search_for_next(ControllerState& state, Effects& effects) {
  RoomMaking& making = state.room_making;
  const std::int64_t now = state.last.wall_unix_s;
  if (making.searching || !state.acts() || std::ranges::any_of(making.waits, is_under_way)) {
    return;
  }
  for (RoomWait& wait : making.waits) {
    if (wait.phase == RoomPhase::kInLine && now < wait.until_unix_s) {
      wait.phase = RoomPhase::kSearching;
      ++wait.searches;
      making.searching = wait.vm;
      effects.room_search =
          RoomSearch{wait.vm, wait.needed,
                     std::clamp<std::int64_t>((wait.until_unix_s - now) / kShareOfSearch, 1,
                                              kLongestSearch_s)};
      return;
    }
  }
}

/// The current home of the client. Negative: it is gone.
NodeId home_of(const ControllerState& state, const ClientId& client) {
  const VmRecord* vm = state.ledger.find(client.vm);
  const auto index = static_cast<std::size_t>(client.index);
  const bool is_there = vm != nullptr && client.index >= 0 && index < vm->clients.size();
  return is_there ? vm->clients[index].home : NodeId{};
}

/// Removes moves of clients that are gone, or have meanwhile moved there anyway.
void drop_needless(const ControllerState& state, std::vector<std::vector<RoomMove>>& steps) {
  for (std::vector<RoomMove>& step : steps) {
    std::erase_if(step, [&](const RoomMove& move) {
      const NodeId home = home_of(state, move.client);
      return home.value < 0 || home == move.to;
    });
  }
  std::erase_if(steps, [](const std::vector<RoomMove>& step) { return step.empty(); });
}

/// The action for the first step, judged by the current host without the VM's reservation. Errors:
/// busy (not yet possible), others (no longer possible).
Result<Action> action_of(const ControllerState& state, const RoomWait& wait,
                         const std::vector<RoomMove>& step) {
  Snapshot snapshot = state.since_the_plan();
  Reservations others = state.reservations;
  others.remove(reservation_name(wait.vm));
  others.keep_in(snapshot);
  const Arrangement now(snapshot, state.setup.options, Arrangement::Basis::kDemand);
  std::vector<Rehoming> moves;
  for (const RoomMove& move : step) {
    const VmRecord* vm = state.ledger.find(move.client.vm);
    const ClientState* client = find_client(snapshot, move.client);
    const std::string name = vm == nullptr ? std::string() : vm->description.name;
    const auto to = snapshot.topology.index_of(move.to);
    if (home_of(state, move.client) != move.from || !to) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("VM '{}' does not live on node {} any more, or node {} is gone",
                                 name, move.from.value, move.to.value));
    }
    if (client == nullptr || !snapshot.vms[client->vm].fresh || client->moving ||
        state.orders.involves(move.client.vm)) {
      return failure(ErrorCode::kBusy, fmt::format("VM '{}' cannot be moved now", name));
    }
    moves.push_back({static_cast<ClientIndex>(client - snapshot.clients.data()), *to});
    if (const auto guard = check_client(now, moves.back().client, Reason::kAdministrator)) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("VM '{}' stays where it is: {}", name,
                                 guard_text(*guard, state.setup.options)));
    }
  }
  return moves_together(snapshot, state.setup.options, moves, Reason::kMakeRoom)
      .and_then([&](Action&& action) -> Result<Action> {
        Plan orders;
        orders.actions = {action};
        orders.actions.front().reason = Reason::kAdministrator;  // for the rules to judge it by
        const std::vector<std::string> violations =
            violations_of_orders(orders, snapshot, state.setup.options);
        if (!violations.empty()) {
          return failure(ErrorCode::kInvalidArgument, violations.front());
        }
        return std::move(action);
      });
}

void order_next_step(ControllerState& state, RoomWait& wait, Effects& effects) {
  if (wait.action != 0) {
    return;
  }
  drop_needless(state, wait.steps);
  if (wait.steps.empty() || !state.acts()) {
    return;
  }
  const Result<Action> action = action_of(state, wait, wait.steps.front());
  if (action) {
    const std::int64_t number = state.orders.next();
    give_order(state, *action, effects);
    wait.action = state.orders.find(number) == nullptr ? 0 : number;
    if (wait.action == 0) {
      start_over(state, wait, "a step could not be ordered", effects);
      return;
    }
    for (const Relocation& relocation : action->relocations) {
      state.vms[relocation.client.vm].why_here[relocation.client.index] +=
          fmt::format(", to make room for VM '{}'", wait.name);
    }
  } else if (action.error().code != ErrorCode::kBusy) {
    start_over(state, wait, action.error().message, effects);
  }
}

std::string phase_text(const RoomWait& wait) {
  switch (wait.phase) {
    case RoomPhase::kInLine:
      return "room is made for other VMs first";
    case RoomPhase::kSearching:
      return "the search for moves that make room is running";
    case RoomPhase::kMoving:
      return wait.steps.empty() ? "all moves are done"
                                : fmt::format("{} more {} to be done", wait.steps.size(),
                                              wait.steps.size() == 1 ? "step is" : "steps are");
    case RoomPhase::kOver:
      break;
  }
  return wait.became;
}

AnnouncedView told_to_wait(const ControllerState& state, const RoomWait& wait) {
  const std::int64_t left_s = wait.until_unix_s - state.last.wall_unix_s;
  AnnouncedView view;
  view.message = fmt::format("VM '{}' waits for room on one node for at most {} s more: {}",
                             wait.name, left_s, phase_text(wait));
  view.ask_again_ms =
      std::clamp(state.setup.options.rebalance_period, kAskAgainAtLeast_ms, kAskAgainAtMost_ms);
  view.at_most_ms = std::max<std::int64_t>(left_s, 0) * 1000;
  return view;
}

}  // namespace

RoomWait* RoomMaking::find(const VmId& vm) {
  const auto found = std::ranges::find(waits, vm, &RoomWait::vm);
  return found == waits.end() ? nullptr : &*found;
}

std::optional<AnnouncedView> wait_for_room(ControllerState& state, const HostNow& now,
                                           const VmDescription& vm, std::int64_t waits_s,
                                           std::string& why, Effects& effects) {
  if (vm.policy.make_room == MakeRoom::kNever) {
    end_wait_for_room(state, vm.id, "its policy says make_room = never", effects);
    return std::nullopt;
  }
  RoomMaking& making = state.room_making;
  const auto needed = room_needed(now.snapshot.topology, vm);
  const FreeForVm free = state.starts.free_for_any(now);
  const std::int64_t deadline_s =
      vm.policy.make_room == MakeRoom::kBeforeStart ? vm.policy.make_room_deadline_s : 0;
  RoomWait* wait = making.find(vm.id);
  const bool could_help = needed && moves_could_help(now.snapshot, free, *needed);
  if (wait == nullptr && could_help && state.acts() && std::min(deadline_s, waits_s) > 0 &&
      making.waits.size() < RoomMaking::kMost) {
    wait = &making.waits.emplace_back();
    wait->vm = vm.id;
    wait->name = vm.name;
    wait->needed = *needed;
    wait->until_unix_s = state.last.wall_unix_s + std::min(deadline_s, waits_s);
    // The search would count a reservation from an earlier run of the daemon as taken.
    give_up_reservation(state, *wait, effects);
    say(*wait,
        fmt::format("waits for room on one node for at most {} s: {}",
                    std::min(deadline_s, waits_s), why),
        effects);
    search_for_next(state, effects);
  }
  if (wait != nullptr && has_moved_in_vain(*wait, state.last.snapshot.epoch)) {
    start_over(state, *wait, "all moves are done, and there is still too little room", effects);
    search_for_next(state, effects);
  }
  if (wait != nullptr && wait->phase != RoomPhase::kOver && waits_s > 0 && state.acts()) {
    return told_to_wait(state, *wait);
  }
  if (wait != nullptr) {
    why += fmt::format(". Room was to be made for it: {}", phase_text(*wait));
    end_wait_for_room(state, vm.id, "it is not told to wait any longer", effects);
  } else if (could_help && deadline_s > 0 && state.setup.mode != Mode::kActive) {
    why +=
        fmt::format(". In mode active, other VMs would be moved for up to {} s to make room for it",
                    deadline_s);
  }
  if (needed) {
    why += advice_on_room(now.snapshot, free, *needed);
  }
  return std::nullopt;
}

void end_wait_for_room(ControllerState& state, const VmId& vm, const std::string& because,
                       Effects& effects) {
  RoomMaking& making = state.room_making;
  RoomWait* wait = making.find(vm);
  if (wait == nullptr) {
    return;
  }
  give_up_reservation(state, *wait, effects);
  if (!wait->moved.empty()) {
    state.vms[vm].room_made =
        fmt::format("to make room for it, {} '{}' moved", wait->moved.size() == 1 ? "VM" : "VMs",
                    fmt::join(wait->moved, "', '"));
  }
  say(*wait, fmt::format("waits for room no longer: {}", because), effects);
  making.waits.erase(making.waits.begin() + (wait - making.waits.data()));
  search_for_next(state, effects);
}

void take_room_search(ControllerState& state, const RoomSearched& searched, Effects& effects) {
  RoomMaking& making = state.room_making;
  if (making.searching != searched.vm) {
    return;
  }
  making.searching.reset();
  RoomWait* wait = making.find(searched.vm);
  if (wait == nullptr || wait->phase != RoomPhase::kSearching) {
    search_for_next(state, effects);  // it was no longer waiting for the answer
    return;
  }
  const auto node = state.ledger.topology().index_of(searched.node);
  if (!node) {
    end(state, *wait, searched.refused.empty() ? "no moves help" : searched.refused, effects);
  } else if (!reserve(state, *wait, searched.node, effects)) {
    end(state, *wait, "there are too many reservations", effects);
  } else {
    wait->phase = RoomPhase::kMoving;
    wait->steps = searched.steps;
    wait->moved_in_epoch = state.last.snapshot.epoch;
    say(*wait,
        fmt::format("gets room on node {} in {} {}", searched.node.value, wait->steps.size(),
                    wait->steps.size() == 1 ? "step" : "steps"),
        effects);
    order_next_step(state, *wait, effects);
  }
  search_for_next(state, effects);
}

void record_room_step(ControllerState& state, const migration::ActionEvent& event,
                      Effects& effects) {
  if (event.kind != migration::ActionEvent::Kind::kFinished) {
    return;
  }
  for (RoomWait& wait : state.room_making.waits) {
    if (wait.action == 0 || wait.action != event.action) {
      continue;
    }
    wait.action = 0;
    if (event.state == migration::ActionState::kDone) {
      for (const RoomMove& move : wait.steps.front()) {
        const VmRecord* vm = state.ledger.find(move.client.vm);
        const std::string name = vm == nullptr ? std::string() : vm->description.name;
        if (!name.empty() && std::ranges::find(wait.moved, name) == wait.moved.end()) {
          wait.moved.push_back(name);
        }
      }
      wait.steps.erase(wait.steps.begin());
      wait.moved_in_epoch = state.last.snapshot.epoch;
    } else {
      start_over(
          state, wait,
          fmt::format("action {} is {}: {}", event.action, name_of(event.state), event.detail),
          effects);
    }
  }
}

void continue_making_room(ControllerState& state, Effects& effects) {
  RoomMaking& making = state.room_making;
  const std::int64_t now = state.last.wall_unix_s;
  std::erase_if(making.waits, [now](const RoomWait& wait) {
    return wait.phase == RoomPhase::kOver && now >= wait.until_unix_s + kRemembered_s;
  });
  for (RoomWait& wait : making.waits) {
    if (wait.phase != RoomPhase::kOver && now >= wait.until_unix_s) {
      end(state, wait, "its deadline has passed, " + phase_text(wait), effects);
    } else if (wait.phase == RoomPhase::kMoving) {
      order_next_step(state, wait, effects);
    }
  }
  search_for_next(state, effects);
}

}  // namespace vmnuma::balancer
