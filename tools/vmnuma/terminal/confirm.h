// SPDX-License-Identifier: Apache-2.0
/// Asks before something is changed.
#pragma once

#include <string>

#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Puts the question on standard error, printable(), with " [y/N] " behind it, and waits for a
/// line. True for y, Y and yes; anything else, and no standard input, is no.
[[nodiscard]] bool is_confirmed(const std::string& question, Surroundings& surroundings);

}  // namespace vmnuma::tools
