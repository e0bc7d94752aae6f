// SPDX-License-Identifier: Apache-2.0
/// `vmnuma sim search`: prints what it finds, and writes it as scenario files.
#pragma once

#include "tools/sim/search/climb.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// `effort` applies to each climb. Exit codes: kExitOk; kExitRefused if a rule of the oracles was
/// violated; kExitUsage if the directory cannot be written, or there is no such opponent.
[[nodiscard]] OrFailure<int> search_scenarios(const SimSearchRequest& request, const Effort& effort,
                                              const Context& context);

}  // namespace vmnuma::tools
