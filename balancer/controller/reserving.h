// SPDX-License-Identifier: Apache-2.0
/// Reservations (core/reservations.h) as the controller has them: what begins, uses up and ends
/// them, and how they are shown and kept.
///
/// Properties:
///  1. What does not fit now is refused, with what each node has; if moves could help, it says so.
///  2. A reservation that begins, is taken up, comes back or ends is logged, told to the history,
///  and kept for the next start.
///  3. What is shown can be read back as the same reservations.
#pragma once

#include <string>
#include <vector>

#include "balancer/controller/controller_state.h"
#include "balancer/core/reservations.h"
#include "balancer/model/view.h"

namespace vmnuma::balancer {

/// After any change of them: snapshots, the history and whoever looks at the log learn of it.
void tell_reservations(ControllerState& state, ReservationChanged change, Effects& effects);

/// Those whose time is over by the last sample are given up.
void expire_reservations(ControllerState& state, Effects& effects);
/// VMs that have stopped may take up again what is for them.
void forget_stopped(ControllerState& state, Effects& effects);
/// A VM begins to run. `told`: where it was told to start, or nothing. Returns the nodes where it
/// finds what was reserved for it.
std::vector<placement::NodeId> take_up_reservations(ControllerState& state,
                                                    const placement::VmDescription& vm,
                                                    const std::vector<placement::NodeId>& told,
                                                    Effects& effects);

[[nodiscard]] ReservationsView reservations_view(const std::vector<Reservation>& reservations);
/// Those of a view that can be; others are left out.
[[nodiscard]] std::vector<Reservation> reservations_in(const ReservationsView& view);

}  // namespace vmnuma::balancer
