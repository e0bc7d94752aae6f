// SPDX-License-Identifier: Apache-2.0
/// `vmnuma record` and `vmnuma replay`.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Writes a recording of the daemon into a new file until enough epochs are over or nobody wants
/// more. `invocation.record` must be set.
[[nodiscard]] int run_record(const Invocation& invocation, Surroundings& surroundings);

/// Makes the plans of a recording again and says whether they are the same; asks no daemon.
/// `invocation.replay` must be set. kExitRefused if a plan differs or the file is damaged,
/// kExitUsage if it is no recording or an option is wrong.
[[nodiscard]] int run_replay(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
