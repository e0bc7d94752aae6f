// SPDX-License-Identifier: Apache-2.0
/// `vmnuma forecast train`: a model from the history, in a process of its own.
///
/// Problem: training takes seconds and a large library; the daemon has time for neither. Approach:
/// a timer calls this once a day. It reads the history, which it never changes, learns from all but
/// the last day, and judges itself by that day: who does not beat the histogram there is not
/// written.
///
/// Properties:
///  - the daemon's file is the old one or a better one;
///  - the same history gives the same model.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Returns the exit code: kExitOk also if there is not enough to learn from.
[[nodiscard]] int run_forecast_train(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
