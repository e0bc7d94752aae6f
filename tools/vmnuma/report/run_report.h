// SPDX-License-Identifier: Apache-2.0
/// `vmnuma report`: gathers what the history and the daemon know, and prints it.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Needs the history's file, not the daemon: without it the page says so where it lacks it.
[[nodiscard]] int run_report(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
