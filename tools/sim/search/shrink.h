// SPDX-License-Identifier: Apache-2.0
/// Finds the smallest scenario that still shows an effect.
///
/// Approach: remove parts (faults, VMs, nodes, epochs, features) or simplify them, keep each change
/// after which the effect is still present, and repeat this as long as it helps.
///
/// Properties, each with a test:
///  - the result still shows the effect;
///  - without any one of its features it no longer would, unless the tries were used up.
#pragma once

#include <cstdint>
#include <functional>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Shrinks `scenario`. `shows` must be true for it, and is called at most `tries` times.
[[nodiscard]] Scenario shrunk(Scenario scenario, std::int64_t tries,
                              const std::function<bool(const Scenario&)>& shows);

}  // namespace vmnuma::tools
