// SPDX-License-Identifier: Apache-2.0
/// Waits for the end of an action that the daemon has begun.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "balancer/model/view.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// How often the daemon is polled.
inline constexpr std::chrono::milliseconds kPollInterval{500};

/// kMeasured: wait until its effect is known, too, which is some epochs after its end.
enum class FollowUntil { kEnded, kMeasured };

/// Waits and returns the action's row in the history; nothing if `surroundings.pause` returns that
/// the program should stop. `vm` is one of the VMs that move; `on_wait` is called before each
/// pause. Errors: the action was not carried out, the history does not have it, or the daemon does
/// not answer.
[[nodiscard]] tl::expected<std::optional<balancer::HistoryRowView>, Refusal> follow_action(
    const Invocation& invocation, Surroundings& surroundings, const std::string& vm,
    std::int64_t action, FollowUntil until, const std::function<void()>& on_wait);

}  // namespace vmnuma::tools
