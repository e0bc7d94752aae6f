// SPDX-License-Identifier: Apache-2.0
/// Randomly drawn scenarios, each with a name of its own.
///
/// Problem: rules that are judged by the scenarios they were developed with look better than they
/// are. Approach: any number of scenarios can be drawn from a seed: each comes from the generator
/// with up to five changes, as a climb makes them. A change to a rule must be judged with an unseen
/// seed. Property, with a test: seed and number decide the scenario, and no climb begins with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Named drawn-SEED-NUMBER.
[[nodiscard]] Scenario drawn_scenario(std::uint64_t seed, std::uint64_t number);

/// The scenario of that name; nothing for any other kind of name.
[[nodiscard]] std::optional<Scenario> drawn_scenario(std::string_view name);

}  // namespace vmnuma::tools
