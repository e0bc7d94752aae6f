// SPDX-License-Identifier: Apache-2.0
/// Asks before something is changed.
#pragma once

#include <string>

#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Writes the question to standard error, printable() and followed by " [y/N] ", and waits for a
/// line. Returns true for y, Y and yes; anything else, or no standard input, means no.
[[nodiscard]] bool is_confirmed(const std::string& question, Surroundings& surroundings);

}  // namespace vmnuma::tools
