// SPDX-License-Identifier: Apache-2.0
/// `vmnuma top`: asks, draws, waits for a key or the next epoch, and again.
///
/// Properties:
///  - if the daemon stops, its last figures stay on the screen, marked as outdated, and it is asked
///    again every epoch;
///  - the daemon is not asked while the screen is frozen.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "balancer/protocol/request.h"
#include "placement/base/result.h"
#include "tools/vmnuma/arguments/failure.h"
#include "tools/vmnuma/top/top_terminal.h"

namespace vmnuma::tools {

/// Asks the daemon and returns the result's JSON text.
using AskDaemon = std::function<OrFailure<std::string>(const balancer::Command&)>;

/// Returns kExitOk when the user quits. Failures: those of the first request, and there is no
/// terminal; nothing has been drawn then.
[[nodiscard]] OrFailure<int> run_top(
    const AskDaemon& ask, const std::function<Result<std::unique_ptr<TopTerminal>>()>& open);

}  // namespace vmnuma::tools
