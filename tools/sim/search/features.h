// SPDX-License-Identifier: Apache-2.0
/// The special features of a scenario, each with a way to remove it.
///
/// Problem: a weakness is explained by those features of its scenario that cannot be removed
/// without making the weakness disappear. Approach: a table of features, each of which can turn a
/// scenario into an otherwise similar one without it. A scenario has a feature if that changes it.
///
/// Property: a removed feature is no longer there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

struct Feature {
  std::string_view name;  ///< "a wide VM", as listed in *takes* (weakness.h)
  void (*take_away)(Scenario&) = nullptr;
};

[[nodiscard]] std::span<const Feature> features();

[[nodiscard]] bool has_feature(const Scenario& scenario, const Feature& feature);

/// Returns the names of the scenario's features, in the order of the table.
[[nodiscard]] std::vector<std::string_view> features_in(const Scenario& scenario);

}  // namespace vmnuma::tools
