// SPDX-License-Identifier: Apache-2.0
/// `vmnuma repack`: takes the host to the best homes, step by step.
///
/// Problem: the planner improves a few homes at a time and may rest where a larger change would
/// bring more; such a change costs copying, so somebody must say when. Approach: the search of
/// `plan --optimal`, then its steps as orders to the daemon, each waited for before the next is
/// given.
///
/// Terms: *step* - clients that go at the same time, because none has room before.
///
/// Properties:
///  - nothing is moved where the gain is below what was asked for;
///  - a step is given only if everybody in it lives where it lived when the way was found;
///  - at the first one that fails the rest is left, and what was done and what was not is said.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Returns the exit code.
[[nodiscard]] int run_repack(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
