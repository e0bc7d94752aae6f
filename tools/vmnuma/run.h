// SPDX-License-Identifier: Apache-2.0
/// Carries out the command line: asks the daemon and prints its answer.
///
/// Properties:
///  - only the requested output goes to standard output;
///  - an error is one message on standard error that states the problem;
///  - the exit code distinguishes a refusal, a wrong command line and an absent daemon.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Runs the command. Returns the exit code.
[[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
