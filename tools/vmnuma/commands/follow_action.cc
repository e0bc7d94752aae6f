// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/follow_action.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "tools/vmnuma/terminal/ask_view.h"

namespace vmnuma::tools {

namespace {

/// An accepted move is in the history immediately. If it is not there after this many polls, it
/// never will be, because no history is written.
constexpr int kPollsWithoutRow = 20;
/// A move is measured some epochs after its end, or never if its VM has ended.
constexpr int kPollsForOutcome = 40;

Refusal refused(std::string message) {
  return {/*by_daemon=*/true, {ErrorCode::kUnsupported, 0, std::move(message)}};
}

}  // namespace

tl::expected<std::optional<balancer::HistoryRowView>, Refusal> follow_action(
    const Invocation& invocation, Surroundings& surroundings, const std::string& vm,
    std::int64_t action, FollowUntil until, const std::function<void()>& on_wait) {
  balancer::HistoryRequest history;
  history.vm = vm;
  int polls_when_done = 0;
  for (int polls_without_row = 0; polls_without_row < kPollsWithoutRow;) {
    VMNUMA_ASSIGN_OR_RETURN(const auto view,
                            ask_view<balancer::HistoryView>(invocation, surroundings, history));
    const auto row = std::find_if(view.moves.begin(), view.moves.end(),
                                  [&](const auto& entry) { return entry.action == action; });
    const bool known = row != view.moves.end();
    if (known && row->state == "done") {
      if (until == FollowUntil::kEnded || row->outcome || ++polls_when_done == kPollsForOutcome) {
        return *row;
      }
    } else if (known && row->state != "open") {
      return tl::unexpected(
          refused(fmt::format("action {} was {}: {}", action, row->state, row->detail)));
    } else {
      on_wait();
    }
    polls_without_row = known ? 0 : polls_without_row + 1;
    if (!surroundings.pause(kPollInterval)) {
      return std::nullopt;
    }
  }
  return tl::unexpected(refused(fmt::format(
      "action {} is not in the history, so it cannot be seen when it is done", action)));
}

}  // namespace vmnuma::tools
