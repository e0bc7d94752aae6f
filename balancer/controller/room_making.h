// SPDX-License-Identifier: Apache-2.0
/// Making room on one node for a VM that waits to start.
///
/// Problem: a VM is about to start, much memory is free but not enough on any one node, and moving
/// another VM would help. Approach: if the VM's policy allows it (make_room) and its hook can wait,
/// the hook is told to ask again. Meanwhile a search for moves runs outside the service's thread
/// (RoomSearch); what becomes free is reserved for the VM; and the moves are ordered step by step,
/// each when the previous one is done and an epoch has shown what is free then. When the VM asks
/// again and fits, it is admitted like any other; at its deadline it is answered as if it had not
/// waited. Terms: *step* - clients that move at the same time, because none has room before the
/// others have left; *wait* of a VM - room_waits.h.
///
/// Properties:
///  1. A VM waits only if its policy says before-start, it has a deadline, and it finds no room
///     where moves could help; and only in active mode while orders are given.
///  2. Room is made for one VM at a time, and there is never more than one search.
///  3. A step is ordered only if every client in it is where the search found it and every rule of
///     orders (core/validator.h) is kept, ignoring the reservation of that VM and no other.
///  4. After its deadline, and once it starts or fails to start, no further step is begun for a VM,
///     and its reservation is gone.
///  5. Setting the wall clock does not change how long a VM waits.
///  6. If a step fails or is no longer possible, or the moves were not enough, another search
///     follows, kMostRoomSearches at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "balancer/controller/controller_state.h"

namespace vmnuma::balancer {

/// The limit for each VM.
inline constexpr std::int64_t kMostRoomSearches = 3;

/// Decides whether an announced VM that finds no room waits. `vm` has the effective policy, and in
/// `now` its reservations are open. Returns the answer for its hook if it waits; otherwise appends
/// to `why` what may be tried or was tried.
[[nodiscard]] std::optional<AnnouncedView> wait_for_room(ControllerState& state, const HostNow& now,
                                                         const VmDescription& vm,
                                                         std::int64_t waits_s, std::string& why,
                                                         Effects& effects);
/// Ends the VM's wait, if there is one. `because`: a sentence without a full stop.
void end_wait_for_room(ControllerState& state, const VmId& vm, const std::string& because,
                       Effects& effects);
/// Takes the result of a search.
void take_room_search(ControllerState& state, const RoomSearched& searched, Effects& effects);
/// Records the progress of an order, which may be a step.
void record_room_step(ControllerState& state, const migration::ActionEvent& event,
                      Effects& effects);
/// Continues to make room. To be called after an epoch's plan.
void continue_making_room(ControllerState& state, Effects& effects);

}  // namespace vmnuma::balancer
