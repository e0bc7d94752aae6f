// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_journal.h"

#include <algorithm>

#include <fmt/format.h>

#include "placement/base/sorted.h"

namespace vmnuma::tools {

using migration::JournalStep;
using migration::OpenAction;

namespace {

constexpr Microseconds kWriteTime{1'000};

}  // namespace

Result<OpenAction*> SimJournal::find(std::int64_t action) {
  clock_ += kWriteTime;
  const auto found = open_.find(action);
  if (found == open_.end()) {
    return failure(ErrorCode::kNotFound, fmt::format("action {} is not open", action));
  }
  return &found->second;
}

Result<void> SimJournal::open(const migration::Order& order) {
  clock_ += kWriteTime;
  open_[order.action] = {order, {}};
  last_action_ = std::max(last_action_, order.action);
  return {};
}

Result<void> SimJournal::begin_step(std::int64_t action, std::int32_t number,
                                    std::string_view text) {
  return find(action).map([&](OpenAction* open) {
    const auto place = std::ranges::lower_bound(open->steps, number, {}, &JournalStep::number);
    const JournalStep step{number, std::string(text), std::nullopt};
    if (place != open->steps.end() && place->number == number) {
      *place = step;
    } else {
      open->steps.insert(place, step);
    }
  });
}

Result<void> SimJournal::end_step(std::int64_t action, std::int32_t number,
                                  std::string_view outcome) {
  return find(action).and_then([&](OpenAction* open) -> Result<void> {
    JournalStep* const step = find_sorted(open->steps, number, &JournalStep::number);
    if (step == nullptr) {
      return failure(ErrorCode::kNotFound, fmt::format("action {} has no step {}", action, number));
    }
    step->outcome = std::string(outcome);
    return {};
  });
}

Result<void> SimJournal::close(std::int64_t action, migration::ActionState /*state*/,
                               std::string_view /*detail*/) {
  return find(action).map([&](OpenAction* /*open*/) { open_.erase(action); });
}

Result<std::vector<OpenAction>> SimJournal::open_actions() {
  clock_ += kWriteTime;
  std::vector<OpenAction> actions;
  for (const auto& [number, action] : open_) {
    actions.push_back(action);
  }
  return actions;
}

}  // namespace vmnuma::tools
