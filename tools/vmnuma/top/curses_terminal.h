// SPDX-License-Identifier: Apache-2.0
/// The terminal the program runs in. Only its .cc file knows ncurses.
///
/// Property: the terminal is restored, even after SIGINT, SIGTERM or SIGHUP, or if it disappears.
#pragma once

#include <memory>

#include "placement/base/result.h"
#include "tools/vmnuma/top/top_terminal.h"

namespace vmnuma::tools {

/// Takes over standard input and output, which must be a terminal, until it is destroyed; one at a
/// time, on the only thread of the process. Errors: unsupported (terminfo(5) knows nothing of
/// $TERM), io.
[[nodiscard]] Result<std::unique_ptr<TopTerminal>> open_terminal(bool colours);

}  // namespace vmnuma::tools
