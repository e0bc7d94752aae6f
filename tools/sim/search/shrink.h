// SPDX-License-Identifier: Apache-2.0
/// The smallest scenario that still shows something.
///
/// Approach: as long as that helps, something is removed (faults, VMs, nodes, epochs, features) or
/// made simpler, and the change is kept if the effect is still there. Properties, each with a test:
/// what is returned still shows it; removing any one feature that it has no longer does, unless the
/// tries were used up.
#pragma once

#include <cstdint>
#include <functional>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// `shows` must be true for `scenario`, and is called at most `tries` times.
[[nodiscard]] Scenario shrunk(Scenario scenario, std::int64_t tries,
                              const std::function<bool(const Scenario&)>& shows);

}  // namespace vmnuma::tools
