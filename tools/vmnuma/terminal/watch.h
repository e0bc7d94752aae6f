// SPDX-License-Identifier: Apache-2.0
/// Shows something again and again, for --watch.
#pragma once

#include <functional>
#include <string_view>

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Calls `show` every epoch of the daemon, or as often as the invocation says, until it returns
/// another exit status than kExitOk or the output is no longer wanted. Returns the exit status.
/// `before` goes before what is shown: on a terminal it replaces what was shown last.
[[nodiscard]] int watch(const Invocation& invocation, Surroundings& surroundings,
                        const std::function<int(std::string_view before)>& show);

}  // namespace vmnuma::tools
