// SPDX-License-Identifier: Apache-2.0
/// `vmnuma plan --optimal`: what would be best, how far from it the host is, and the way there.
///
/// Approach: it is found in a process of its own (outlook_apart.h). Where the solver fails, the
/// answer is what the planner comes to, and the reason is said. Property: nothing is changed.
#pragma once

#include <string>

#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// What was found for the host as the daemon sees it, as text for people or as JSON
/// (optimal_text.h).
[[nodiscard]] tl::expected<std::string, Refusal> find_optimal_plan(
    const Invocation& invocation, const OptimalRun& search, bool json,
    const Surroundings& surroundings);

/// Returns the exit code.
[[nodiscard]] int run_optimal(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
