// SPDX-License-Identifier: Apache-2.0
/// Finds the history file for commands that read it themselves.
#pragma once

#include <string>

#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// Returns `named` if it is not empty; otherwise the daemon's file, or the default if the daemon
/// cannot be asked.
[[nodiscard]] std::string history_file(const std::string& named, const Context& context);

}  // namespace vmnuma::tools
