// SPDX-License-Identifier: Apache-2.0
/// Room on one node for a VM whose start waits for it.
///
/// Problem: much memory is free, on no node enough for a VM that is about to start, and moving
/// another one would do. Approach: a VM whose policy says so (make_room) and whose hook can wait is
/// told to ask again. Meanwhile the moves are searched for, beside the service's thread
/// (RoomSearch); what becomes free is reserved for the VM; and the moves are ordered step after
/// step, each when the one before it is done and an epoch has shown what is free then. When the VM
/// asks again and fits, it is admitted as any other, and at its deadline it is answered as if
/// it had not waited. Terms: *step* - clients that go at the same time, as none has room before;
/// its *wait* - room_waits.h.
///
/// Properties:
///  1. No VM waits but one whose policy says before-start, with a deadline, and that finds no room
///  where moves could help; and none unless the mode is active and orders are given.
///  2. One VM's room is made at a time, and there is never more than one search.
///  3. A step is ordered only if every client in it is where the search found it and every rule of
///  orders (core/validator.h) is kept; with the reservation of that VM out of the way and no other.
///  4. After its deadline, when it starts and when it does not, no step is begun for a VM, and its
///  reservation is gone.
///  5. A step that fails or is not possible any more, and moves that were not enough, lead to
///  another search, kMostRoomSearches at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "balancer/controller/controller_state.h"

namespace vmnuma::balancer {

/// For one VM.
inline constexpr std::int64_t kMostRoomSearches = 3;

/// A VM that is announced finds no room; `vm` with the policy that counts, `now` with its
/// reservations open. Returns what its hook is told if it waits; else adds to `why` what may be
/// tried or was.
[[nodiscard]] std::optional<AnnouncedView> wait_for_room(ControllerState& state, const HostNow& now,
                                                         const placement::VmDescription& vm,
                                                         std::int64_t waits_s, std::string& why,
                                                         Effects& effects);
/// The VM does not wait any more, if it has. `because`: a sentence without a dot.
void end_wait_for_room(ControllerState& state, const placement::VmId& vm,
                       const std::string& because, Effects& effects);
/// A search has ended.
void take_room_search(ControllerState& state, const RoomSearched& searched, Effects& effects);
/// What has become of an order that may be a step.
void note_room_step(ControllerState& state, const migration::ActionEvent& event, Effects& effects);
/// After an epoch's plan.
void go_on_making_room(ControllerState& state, Effects& effects);

}  // namespace vmnuma::balancer
