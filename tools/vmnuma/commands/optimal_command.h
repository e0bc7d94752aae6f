// SPDX-License-Identifier: Apache-2.0
/// `vmnuma plan --optimal`: finds the best homes, how far the host is from them, and the steps to
/// get there.
///
/// Approach: the search runs in a process of its own (outlook_apart.h). If the solver fails, the
/// answer is the planner's result, with the reason. Property: nothing is changed.
#pragma once

#include <string>

#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// Returns the result for the host as the daemon sees it, as text for humans or as JSON
/// (optimal_text.h).
[[nodiscard]] OrFailure<std::string> find_optimal_plan(const Context& context,
                                                       const OptimalRun& search, bool json);

}  // namespace vmnuma::tools
