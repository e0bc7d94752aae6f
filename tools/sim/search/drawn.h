// SPDX-License-Identifier: Apache-2.0
/// Scenarios that nobody has chosen, each with a name of its own.
///
/// Problem: rules that are judged by the scenarios they were made with look better than they are.
/// Approach: any number of scenarios can be drawn by a seed: one from the generator with up to five
/// changes, as a climb makes them. Whoever changes a rule takes a seed that was not looked at
/// before. Property, with a test: seed and number decide the scenario, and no climb begins with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

/// Named drawn-SEED-NUMBER.
[[nodiscard]] Scenario drawn_scenario(std::uint64_t seed, std::uint64_t number);

/// The one of that name; nothing if the name is another kind of name.
[[nodiscard]] std::optional<Scenario> drawn_scenario(std::string_view name);

}  // namespace vmnuma::tools
