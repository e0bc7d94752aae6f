// SPDX-License-Identifier: Apache-2.0
// Prints the table of all scenarios under all policies, with a reason wherever another one does
// better. What it says is in tests/bench/README.md.
#include <algorithm>
#include <functional>
#include <iostream>

#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"
#include "tools/sim/comparison.h"

namespace vmnuma::tools {
namespace {

TEST(FiguresTest, AllScenariosUnderAllPolicies) {
  std::vector<ScenarioComparison> comparisons;
  std::int64_t ours = 0;
  std::int64_t nobodys = 0;
  const auto scenarios = list_scenarios(kScenarioDirectory);
  ASSERT_TRUE(scenarios) << scenarios.error().message;
  for (const Scenario& scenario : *scenarios) {
    comparisons.push_back(compare_policies(scenario, [] {}));
    nobodys += comparisons.back().policies.front().lost.value;
    ours += comparisons.back().policies.back().lost.value;
  }
  std::cout << to_text(comparisons) << to_text(summary_of(comparisons));
  for (const ScenarioComparison& comparison : comparisons) {
    EXPECT_NE(we_are_first(comparison), !comparison.not_first_because.empty())
        << comparison.scenario << ": a reason is given exactly where another policy does better";
    const auto [least, most] =
        std::ranges::minmax(comparison.policies, std::ranges::less(),
                            [](const PolicyResult& result) { return result.lost.value; });
    EXPECT_GE(two_digits(most.lost) - two_digits(least.lost), 1)
        << comparison.scenario << ": it shows nothing if all policies lose about as much";
  }
  EXPECT_LT(ours, nobodys);
}

}  // namespace
}  // namespace vmnuma::tools
