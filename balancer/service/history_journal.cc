// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/history_journal.h"

#include <chrono>

#include "balancer/service/history_rows.h"
#include "migration/order_text.h"

namespace vmnuma::balancer {

Result<stats::History*> HistoryJournal::available() const {
  if (history_ == nullptr) {
    return failure(ErrorCode::kUnavailable, "there is no history to keep the journal in");
  }
  return history_;
}

Result<void> HistoryJournal::open(const migration::Order& order) {
  return available().and_then([&](stats::History* history) {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(time_.wall());
    return history->open_action(action_row(order, now));
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
    return history->close_action(action, action_state(state), detail);
  });
}

Result<std::vector<migration::OpenAction>> HistoryJournal::open_actions() {
  const Result<stats::History*> history = available();
  if (!history) {
    return std::vector<migration::OpenAction>{};
  }
  VMNUMA_ASSIGN_OR_RETURN(auto rows, (*history)->open_actions());
  std::vector<migration::OpenAction> open;
  for (const stats::OpenAction& row : rows) {
    Result<migration::Order> order = migration::parse_order(row.action.order_text);
    if (!order) {
      VMNUMA_RETURN_IF_ERROR((*history)->close_action(
          row.action.id, stats::ActionState::kDropped,
          "its order could not be read after a restart: " + order.error().message));
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
