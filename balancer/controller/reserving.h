// SPDX-License-Identifier: Apache-2.0
/// Reservations (core/reservations.h) in the controller: what begins, takes up and ends them, and
/// how they are shown and kept.
///
/// Properties:
///  1. A reservation that does not fit now is refused, with what each node has and whether moves
///  could help.
///  2. When a reservation begins, is taken up, comes back or ends, that is logged, written to the
///  history, and kept for the next start.
///  3. The view can be read back as the same reservations.
///  4. A duration is one of the monotonic clock; a time of day is one of the wall clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/controller/controller_state.h"
#include "balancer/core/reservations.h"
#include "balancer/model/view.h"

namespace vmnuma::balancer {

/// To be called after any change: updates snapshots, the history and the log.
void tell_reservations(ControllerState& state, ReservationChanged change, Effects& effects);

/// To be called after a sample was taken in: if the wall clock was set since the one before, what
/// lasts so long from some moment on (reservations, waits for room) ends that much later or
/// earlier by that clock.
void follow_clock(ControllerState& state, std::int64_t wall_unix_s_before, Effects& effects);

/// Gives up reservations that have expired by the last sample.
void expire_reservations(ControllerState& state, Effects& effects);
/// VMs that have stopped may take up again what is reserved for them.
void forget_stopped(ControllerState& state, Effects& effects);
/// A VM begins to run. `told`: where it was told to start, or nothing. Returns the nodes where it
/// finds what was reserved for it.
std::vector<NodeId> take_up_reservations(ControllerState& state, const VmDescription& vm,
                                         const std::vector<NodeId>& told, Effects& effects);

[[nodiscard]] ReservationsView reservations_view(const std::vector<Reservation>& reservations);
/// The valid reservations of a view; others are left out.
[[nodiscard]] std::vector<Reservation> reservations_in(const ReservationsView& view);

}  // namespace vmnuma::balancer
