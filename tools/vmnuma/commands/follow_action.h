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

/// kMeasured: also until its effect is known, which is some epochs after its end.
enum class FollowUntil { kEnded, kMeasured };

/// The action's row in the history once it is done; nothing if `surroundings.pause` says to stop.
/// `vm` is one of those that move; `on_wait` is called before each pause. Errors: it was not
/// carried out, the history does not have it, or the daemon does not answer.
[[nodiscard]] tl::expected<std::optional<balancer::HistoryRowView>, Refusal> follow_action(
    const Invocation& invocation, Surroundings& surroundings, const std::string& vm,
    std::int64_t action, FollowUntil until, const std::function<void()>& on_wait);

}  // namespace vmnuma::tools
