// SPDX-License-Identifier: Apache-2.0
/// Reservations (core/reservations.h) in the controller: what begins, takes up and ends them, and
/// how they are displayed.
///
/// Properties:
///  1. A reservation that does not fit now is refused; the error states what each node has and
///     whether moves could help.
///  2. When a reservation begins, is taken up, comes back or ends, that is logged, written to the
///     history, and stored for the next start.
///  3. A duration follows the monotonic clock; a time of day follows the wall clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/controller/controller_state.h"
#include "balancer/core/reservations.h"
#include "balancer/model/view.h"

namespace vmnuma::balancer {

/// Updates snapshots, the history and the log. To be called after any change.
void report_reservations(ControllerState& state, ReservationChanged change, Effects& effects);

/// Adjusts deadlines to a wall clock that was set since the previous sample: whatever has a
/// duration (reservations, waits for room) ends that much later or earlier by the wall clock. To be
/// called after a sample was taken in.
void follow_clock(ControllerState& state, std::int64_t wall_unix_s_before, Effects& effects);

/// Ends reservations that have expired by the time of the last sample.
void expire_reservations(ControllerState& state, Effects& effects);
/// Lets VMs that have stopped take up again what is reserved for them, and returns what they had
/// taken to shared reservations.
void forget_stopped(ControllerState& state, Effects& effects);
/// Takes up what is reserved for a VM that begins to run. `told`: where it was told to start, or
/// nothing. Returns the nodes on which something was reserved for it.
std::vector<NodeId> take_up_reservations(ControllerState& state, const VmDescription& vm,
                                         const std::vector<NodeId>& told, Effects& effects);

[[nodiscard]] ReservationsView reservations_view(const std::vector<Reservation>& reservations);

}  // namespace vmnuma::balancer
