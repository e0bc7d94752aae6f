// SPDX-License-Identifier: Apache-2.0
/// Randomly drawn scenarios, each with a name of its own.
///
/// Problem: rules look better than they are if they are judged by the scenarios with which they
/// were developed. Approach: any number of scenarios can be drawn from a seed: each comes from the
/// generator and has up to five changes like those of a climb. A change to a rule must be judged
/// with a seed that was not used before. Property, with a test: the scenario depends only on seed
/// and number, and no climb begins with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Returns the scenario, named drawn-SEED-NUMBER.
[[nodiscard]] Scenario drawn_scenario(std::uint64_t seed, std::uint64_t number);

/// Returns the scenario of that name; nothing for any other kind of name.
[[nodiscard]] std::optional<Scenario> drawn_scenario(std::string_view name);

}  // namespace vmnuma::tools
