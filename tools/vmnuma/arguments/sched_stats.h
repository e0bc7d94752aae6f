// SPDX-License-Identifier: Apache-2.0
/// Parses the command line of ESXi's sched-stats, for scripts that use it. The program behaves like
/// this when called by that name.
#pragma once

#include <span>
#include <string>

#include "tools/vmnuma/arguments/invocation.h"

namespace vmnuma::tools {

/// Accepts `-t TYPE`, `-g GROUP`, `-l ID,ID`, `-z COLUMN,COLUMN`, `-q` and `-h`, and `--socket
/// PATH` of our own. Reports other options of sched-stats as not supported.
[[nodiscard]] tl::expected<Invocation, EarlyExit> parse_sched_stats_arguments(
    std::span<const std::string> arguments);

}  // namespace vmnuma::tools
