// SPDX-License-Identifier: Apache-2.0
/// `vmnuma forecast show VM`: what a VM will want, and how good forecasts for it were.
///
/// Reads the history's file and the model beside it, and works without a daemon, too.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Returns the exit code.
[[nodiscard]] int run_forecast_show(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
