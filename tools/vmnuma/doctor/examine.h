// SPDX-License-Identifier: Apache-2.0
/// `vmnuma doctor`: all checks of this host, and how the program ends.
#pragma once

#include <string>

#include "placement/base/result.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/doctor/finding.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Prints what it finds. Returns kExitOk if nothing is worse than a note, else kExitWarning or
/// kExitBroken.
[[nodiscard]] int run_doctor(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
