// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_journal.h"

#include <chrono>
#include <map>

#include "migration/order_text.h"

namespace vmnuma::balancer {
namespace {

stats::ActionState state_of(migration::ActionState state) {
  switch (state) {
    case migration::ActionState::kDone:
      return stats::ActionState::kDone;
    case migration::ActionState::kUndone:
      return stats::ActionState::kUndone;
    case migration::ActionState::kDropped:
      return stats::ActionState::kDropped;
  }
  return stats::ActionState::kDropped;
}

stats::ActionRow row_of(const migration::Order& order, stats::WallTime now) {
  stats::ActionRow row;
  row.id = order.action;
  row.time = now;
  row.epoch = order.epoch;
  row.reason = name_of(order.reason);
  row.predicted = order.predicted;
  row.order_text = migration::to_text(order);
  for (const migration::VmChange& change : order.changes) {
    if (change.homes.empty()) {
      // Only memory travels: home to home, as much as the quotas say.
      for (const migration::NodeQuota& quota : change.memory.quotas) {
        row.relocations.push_back(
            {change.vm, change.vm_name, 0, quota.node, quota.node, quota.bytes});
      }
    }
    for (const migration::HomeChange& home : change.homes) {
      placement::Bytes memory;
      for (const migration::NodeQuota& quota : change.memory.quotas) {
        if (quota.node == home.to) {
          memory = quota.bytes;
        }
      }
      row.relocations.push_back(
          {change.vm, change.vm_name, home.client, home.from, home.to, memory});
    }
  }
  return row;
}

}  // namespace

Result<stats::History*> HistoryJournal::available() const {
  if (history_ == nullptr) {
    return failure(ErrorCode::kUnavailable, "there is no history to keep the journal in");
  }
  return history_;
}

Result<void> HistoryJournal::open(const migration::Order& order) {
  return available().and_then([&](stats::History* history) {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(time_.wall());
    return history->open_action(row_of(order, now));
  });
}

Result<void> HistoryJournal::begin_step(std::int64_t action, std::int32_t number,
                                        std::string_view text) {
  return available().and_then(
      [&](stats::History* history) { return history->begin_step(action, number, text); });
}

Result<void> HistoryJournal::end_step(std::int64_t action, std::int32_t number,
                                      std::string_view outcome) {
  return available().and_then(
      [&](stats::History* history) { return history->end_step(action, number, outcome); });
}

Result<void> HistoryJournal::close(std::int64_t action, migration::ActionState state,
                                   std::string_view detail) {
  return available().and_then([&](stats::History* history) {
    return history->close_action(action, state_of(state), detail);
  });
}

Result<std::vector<migration::OpenAction>> HistoryJournal::open_actions() {
  const Result<stats::History*> history = available();
  if (!history) {
    return std::vector<migration::OpenAction>{};
  }
  Result<std::vector<stats::OpenAction>> rows = (*history)->open_actions();
  if (!rows) {
    return tl::unexpected(std::move(rows).error());
  }
  std::vector<migration::OpenAction> open;
  for (const stats::OpenAction& row : *rows) {
    Result<migration::Order> order = migration::parse_order(row.action.order_text);
    if (!order) {
      if (Result<void> closed = (*history)->close_action(
              row.action.id, stats::ActionState::kDropped,
              "its order could not be read after a restart: " + order.error().message);
          !closed) {
        return tl::unexpected(std::move(closed).error());
      }
      continue;
    }
    migration::OpenAction action{std::move(*order), {}};
    for (const stats::StepRow& step : row.steps) {
      action.steps.push_back({step.number, step.text, step.outcome});
    }
    open.push_back(std::move(action));
  }
  return open;
}

}  // namespace vmnuma::balancer
