// SPDX-License-Identifier: Apache-2.0
/// Waits for the end of an action that the daemon has begun.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "balancer/model/view.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// How often the daemon is polled.
inline constexpr std::chrono::milliseconds kPollInterval{500};

/// kMeasured: wait until its effect is known, too, which is some epochs after its end.
enum class FollowUntil { kEnded, kMeasured };

/// Returns the action that an order has begun. Failure: the daemon's answer does not name it.
[[nodiscard]] OrFailure<std::int64_t> action_of(const balancer::DoneView& done);

/// Waits and returns the action's row in the history; nothing if `context.surroundings.pause`
/// returns that the program should stop. `vm` is one of the VMs that move; `on_wait` is called
/// before each pause. Errors: the action was not carried out, the history does not have it, or the
/// daemon does not answer.
[[nodiscard]] OrFailure<std::optional<balancer::HistoryRowView>> follow_action(
    const Context& context, const std::string& vm, std::int64_t action, FollowUntil until,
    const std::function<void()>& on_wait);

}  // namespace vmnuma::tools
