// SPDX-License-Identifier: Apache-2.0
/// `vmnuma sim`: the balancer on a simulated host. Needs no daemon.
#pragma once

#include <string>

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Carries out a `sim` command with the scenarios of that directory: runs a scenario and prints
/// tables during the run and a summary, or one JSON object; or lists the scenarios. Exit codes:
/// kExitOk; kExitRefused if a rule of the oracles was violated; kExitUsage if there is no such
/// scenario or its file is wrong.
[[nodiscard]] int run_sim(const Invocation& invocation, const std::string& scenarios,
                          Surroundings& surroundings);

}  // namespace vmnuma::tools
