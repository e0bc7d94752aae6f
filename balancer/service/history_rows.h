// SPDX-License-Identifier: Apache-2.0
/// Pure conversions between the controller's types and the history's rows.
#pragma once

#include "balancer/controller/events.h"
#include "balancer/model/view.h"
#include "migration/journal.h"
#include "migration/order.h"
#include "placement/model/topology.h"
#include "stats/history/rows.h"

namespace vmnuma::balancer {

/// The row of an action that begins.
[[nodiscard]] stats::ActionRow action_row(const migration::Order& order, stats::WallTime now);
[[nodiscard]] stats::ActionState action_state(migration::ActionState state);
[[nodiscard]] stats::ActionOutcome outcome_row(const OutcomeMeasured& outcome);
/// The row of a start that was refused, or would have been: a dropped action, because it moves
/// nothing.
[[nodiscard]] stats::ActionRow not_admitted_row(const StartNotAdmitted& start, stats::WallTime now);
[[nodiscard]] stats::ActionFilter filter_of(const HistoryRequest& request);
/// The view of these actions: at most `limit` rows; `truncated` if there were more.
[[nodiscard]] HistoryView history_view(const std::vector<stats::PastAction>& actions,
                                       std::int64_t limit);
[[nodiscard]] stats::ReservationEventRow reservation_event_row(const ReservationChanged& change,
                                                               stats::WallTime now);
[[nodiscard]] stats::ReservationEventFilter filter_of(const ReservationHistoryRequest& request);
/// The view of these events: at most `limit` rows; `truncated` if there were more.
[[nodiscard]] ReservationHistoryView reservation_history_view(
    const std::vector<stats::ReservationEventRow>& rows, std::int64_t limit);
/// The name of the VM with this UUID or name, running or in the history. Error: not-found, with the
/// closest name.
[[nodiscard]] Result<std::string> vm_name(const std::string& name_or_uuid,
                                          const std::vector<stats::PastVm>& past,
                                          const std::vector<VmDescription>& running);
/// Checks that the host has this node. Error: not-found, listing those that it has.
[[nodiscard]] Result<void> check_node_is_known(NodeId node, const Topology& topology);

}  // namespace vmnuma::balancer
