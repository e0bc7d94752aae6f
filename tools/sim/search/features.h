// SPDX-License-Identifier: Apache-2.0
/// What is special about a scenario, each with a way to take it away.
///
/// Problem: why a scenario hurts is seen from what cannot be taken away from it without the hurt
/// going away. Approach: a table of features; each says whether a scenario has it and makes one
/// that has not, else as like as can be.
///
/// Property: what was taken away is no longer there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

struct Feature {
  std::string_view name;  ///< "a wide VM", as in a list of what it takes
  bool (*is_in)(const Scenario&) = nullptr;
  void (*take_away)(Scenario&) = nullptr;
};

[[nodiscard]] std::span<const Feature> features();

/// Names of those that it has, in the order of the table.
[[nodiscard]] std::vector<std::string_view> features_in(const Scenario& scenario);

}  // namespace vmnuma::tools
