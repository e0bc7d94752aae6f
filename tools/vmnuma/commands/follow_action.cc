// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/follow_action.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

namespace {

/// An accepted move is in the history immediately. If it is not there after this many polls, it
/// never will be, because no history is written.
constexpr int kPollsWithoutRow = 20;
/// A move is measured some epochs after its end, or never if its VM has ended.
constexpr int kPollsForOutcome = 40;

}  // namespace

OrFailure<std::int64_t> action_of(const balancer::DoneView& done) {
  if (!done.action) {
    return tl::unexpected(answer_failure(
        {ErrorCode::kCorrupt, 0, "the daemon's answer does not name the action to wait for"}));
  }
  return *done.action;
}

OrFailure<std::optional<balancer::HistoryRowView>> follow_action(
    const Context& context, const std::string& vm, std::int64_t action, FollowUntil until,
    const std::function<void()>& on_wait) {
  balancer::HistoryRequest history;
  history.vm = vm;
  int polls_when_done = 0;
  for (int polls_without_row = 0; polls_without_row < kPollsWithoutRow;) {
    VMNUMA_ASSIGN_OR_RETURN(const auto view, context.ask(history));
    const auto row = std::find_if(view.moves.begin(), view.moves.end(),
                                  [&](const auto& entry) { return entry.action == action; });
    const bool known = row != view.moves.end();
    if (known && row->state == "done") {
      if (until == FollowUntil::kEnded || row->outcome || ++polls_when_done == kPollsForOutcome) {
        return *row;
      }
    } else if (known && row->state != "open") {
      return failure(ErrorCode::kUnsupported,
                     fmt::format("action {} was {}: {}", action, row->state, row->detail));
    } else {
      on_wait();
    }
    polls_without_row = known ? 0 : polls_without_row + 1;
    if (!context.surroundings.pause(kPollInterval)) {
      return std::nullopt;
    }
  }
  return failure(
      ErrorCode::kUnsupported,
      fmt::format("action {} is not in the history, so it cannot be seen when it is done", action));
}

}  // namespace vmnuma::tools
