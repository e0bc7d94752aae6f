// SPDX-License-Identifier: Apache-2.0
/// What holds in every scenario that comes with the program.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EveryScenario : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static Scenario scenario() {
    return find_scenario(GetParam(), kScenarioDirectory).value();
  }
};

TEST_P(EveryScenario, ViolatesNothing) {
  EXPECT_THAT(run_to_end(scenario()).violations, IsEmpty());
}

TEST_P(EveryScenario, GivesTheSameBytesTwice) {
  EXPECT_EQ(to_json(run_to_end(scenario())), to_json(run_to_end(scenario())));
}

TEST_P(EveryScenario, ViolatesNothingWithOtherSeeds) {
  for (std::uint64_t seed = 100; seed < 105; ++seed) {
    Scenario other = scenario();
    other.seed = seed;
    EXPECT_THAT(run_to_end(other).violations, IsEmpty()) << "seed " << seed;
  }
}

TEST_P(EveryScenario, SaysWhatItIsInOneLine) {
  const std::string description = scenario().description;
  EXPECT_FALSE(description.empty());
  EXPECT_LE(description.size(), 90U) << description;
  EXPECT_EQ(description.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Sim, EveryScenario, testing::ValuesIn(scenario_names()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ScenarioListTest, AllFilesAreReadAndThereAreEnough) {
  const auto scenarios = list_scenarios(kScenarioDirectory);
  ASSERT_TRUE(scenarios.has_value()) << scenarios.error().message;
  EXPECT_GE(scenarios->size(), 20U);
}

}  // namespace
}  // namespace vmnuma::tools
