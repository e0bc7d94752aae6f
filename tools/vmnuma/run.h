// SPDX-License-Identifier: Apache-2.0
/// Carries out what the command line asks for: asks the daemon and prints its answer.
///
/// Properties: what was asked for goes to standard output and nothing else does; an error is one
/// message on standard error that says what is wrong; the exit code tells a refusal from a wrong
/// command line and from an absent daemon.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Returns the exit code.
[[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
