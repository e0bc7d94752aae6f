// SPDX-License-Identifier: Apache-2.0
/// The smallest scenario that still shows something.
///
/// Approach: as long as that helps, something is taken away - faults, VMs, nodes, epochs, features
/// - or made simpler, and kept away if what is to be seen is still there. Properties, each with a
/// test: what is returned still shows it; taking away any one feature that it has no longer does,
/// unless the tries were used up.
#pragma once

#include <cstdint>
#include <functional>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// `shows` must be true for `scenario`, and is asked at most `tries` times.
[[nodiscard]] Scenario shrunk(Scenario scenario, std::int64_t tries,
                              const std::function<bool(const Scenario&)>& shows);

}  // namespace vmnuma::tools
