// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_rows.h"

#include "migration/order_text.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

stats::ActionState action_state(migration::ActionState state) {
  return value_named<stats::ActionState>(name_of(state)).value_or(stats::ActionState::kDropped);
}

stats::ActionRow action_row(const migration::Order& order, stats::WallTime now) {
  stats::ActionRow row;
  row.id = order.action;
  row.time = now;
  row.epoch = order.epoch;
  row.reason = name_of(order.reason);
  row.predicted = order.predicted;
  row.order_text = migration::to_text(order);
  for (const migration::VmChange& change : order.changes) {
    if (change.homes.empty()) {
      // Only memory moves: it goes home, as much as the quotas specify.
      for (const migration::NodeQuota& quota : change.memory.quotas) {
        row.relocations.push_back(
            {change.vm, change.vm_name, 0, quota.node, quota.node, quota.bytes});
      }
    }
    for (const migration::HomeChange& home : change.homes) {
      Bytes memory;
      for (const migration::NodeQuota& quota : change.memory.quotas) {
        if (quota.node == home.to) {
          memory = quota.bytes;
        }
      }
      row.relocations.push_back(
          {change.vm, change.vm_name, home.client, home.from, home.to, memory, home.spills_to});
    }
  }
  return row;
}

stats::ActionOutcome outcome_row(const OutcomeMeasured& outcome) {
  return {outcome.before.lost,
          outcome.after.lost,
          outcome.before.imbalance,
          outcome.after.imbalance,
          outcome.locality_before,
          outcome.locality_after,
          outcome.moved,
          std::chrono::milliseconds(outcome.took.value / 1000)};
}

stats::ActionRow not_admitted_row(const StartNotAdmitted& start, stats::WallTime now) {
  stats::ActionRow row;
  row.id = start.action;
  row.time = now;
  row.epoch = start.epoch;
  row.reason = kNotAdmittedReason;
  row.predicted.known = false;
  row.relocations.push_back({start.vm, start.name, 0, {}, {}, {}});
  return row;
}

stats::ReservationEventRow reservation_event_row(const ReservationChanged& change,
                                                 stats::WallTime now) {
  return {.time = now,
          .reservation = change.reservation,
          .what = std::string(name_of(change.step)),
          .vm_uuid = change.vm ? to_text(*change.vm) : "",
          .vm_name = change.vm_name,
          .memory = change.memory,
          .detail = change.detail};
}

}  // namespace vmnuma::balancer
