// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_journal.h"

#include <algorithm>

namespace vmnuma::tests {

using migration::JournalStep;
using migration::OpenAction;

namespace {

auto not_open(std::int64_t action) {
  return failure(ErrorCode::kNotFound, "action " + std::to_string(action) + " is not open");
}

}  // namespace

Result<void> FakeJournal::open(const migration::Order& order) {
  if (!open_.try_emplace(order.action, OpenAction{order, {}}).second) {
    return failure(ErrorCode::kInvalidArgument,
                   "action " + std::to_string(order.action) + " is open already");
  }
  return {};
}

Result<void> FakeJournal::begin_step(std::int64_t action, std::int32_t number,
                                     std::string_view text) {
  const auto found = open_.find(action);
  if (found == open_.end()) {
    return not_open(action);
  }
  std::vector<JournalStep>& steps = found->second.steps;
  const auto at =
      std::lower_bound(steps.begin(), steps.end(), number,
                       [](const JournalStep& step, std::int32_t key) { return step.number < key; });
  JournalStep begun{number, std::string(text), std::nullopt};
  if (at != steps.end() && at->number == number) {
    *at = std::move(begun);
  } else {
    steps.insert(at, std::move(begun));
  }
  return {};
}

Result<void> FakeJournal::end_step(std::int64_t action, std::int32_t number,
                                   std::string_view outcome) {
  const auto found = open_.find(action);
  if (found == open_.end()) {
    return not_open(action);
  }
  for (JournalStep& step : found->second.steps) {
    if (step.number == number) {
      step.outcome = outcome;
      return {};
    }
  }
  return failure(ErrorCode::kNotFound, "step " + std::to_string(number) + " was not begun");
}

Result<void> FakeJournal::close(std::int64_t action, migration::ActionState state,
                                std::string_view detail) {
  const auto found = open_.find(action);
  if (found == open_.end()) {
    return not_open(action);
  }
  closed_.push_back({found->second, state, std::string(detail)});
  open_.erase(found);
  return {};
}

Result<std::vector<OpenAction>> FakeJournal::open_actions() {
  std::vector<OpenAction> actions;
  for (const auto& [number, action] : open_) {
    actions.push_back(action);
  }
  return actions;
}

}  // namespace vmnuma::tests
