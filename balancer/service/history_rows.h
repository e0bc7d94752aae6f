// SPDX-License-Identifier: Apache-2.0
/// The history's rows of what the controller and the executor report.
#pragma once

#include "balancer/controller/events.h"
#include "migration/journal.h"
#include "migration/order.h"
#include "stats/history/rows.h"

namespace vmnuma::balancer {

/// The row of an action that begins.
[[nodiscard]] stats::ActionRow action_row(const migration::Order& order, stats::WallTime now);
[[nodiscard]] stats::ActionState action_state(migration::ActionState state);
[[nodiscard]] stats::ActionOutcome outcome_row(const OutcomeMeasured& outcome);
/// The row of a start that was refused, or would have been: a dropped action, because it moves
/// nothing.
[[nodiscard]] stats::ActionRow not_admitted_row(const StartNotAdmitted& start, stats::WallTime now);
[[nodiscard]] stats::ReservationEventRow reservation_event_row(const ReservationChanged& change,
                                                               stats::WallTime now);

}  // namespace vmnuma::balancer
