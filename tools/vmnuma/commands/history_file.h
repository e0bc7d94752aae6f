// SPDX-License-Identifier: Apache-2.0
/// The history to use by commands that read the file themselves.
#pragma once

#include <string>

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// `named`, if not empty; otherwise the daemon's, or its default if it cannot be asked.
[[nodiscard]] std::string history_file(const std::string& named, const Invocation& invocation,
                                       const Surroundings& surroundings);

}  // namespace vmnuma::tools
