// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"
#include "tools/sim/scenario/scenario_file.h"

namespace vmnuma::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ScenarioWriterTest, EveryScenarioThatComesWithTheProgramIsReadBackEqual) {
  const auto scenarios = list_scenarios(kScenarioDirectory);
  ASSERT_TRUE(scenarios) << scenarios.error().message;
  for (const Scenario& scenario : *scenarios) {
    const auto read = parse_scenario(to_toml(scenario), scenario.name + ".toml");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, scenario) << to_toml(scenario);
  }
}

TEST(ScenarioWriterTest, LeavesOutWhatIsStandard) {
  Scenario scenario;
  scenario.epochs = 5;
  scenario.host = small_host(2);
  scenario.vms = {busy_vm("a", 2, 50)};
  const std::string text = to_toml(scenario);
  for (const char* key : {"seed", "options", "shares", "stall", "threads_per_core", "fault"}) {
    EXPECT_THAT(text, Not(HasSubstr(key)));
  }
}

TEST(ScenarioWriterTest, AnythingMayStandInAName) {
  Scenario scenario;
  scenario.name = "some";
  scenario.description = "a \"quoted\" \\ line\n\x01\x7f";
  scenario.epochs = 5;
  scenario.host = small_host(2);
  scenario.vms = {busy_vm("a\tb \xc3\xa4", 2, 50)};
  scenario.faults = {
      {.epoch = 1, .kind = FaultKind::kNodeOffline, .node = NodeId{1}, .epochs = 2, .cores = 1}};
  const auto read = parse_scenario(to_toml(scenario), "some.toml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, scenario);
}

}  // namespace
}  // namespace vmnuma::tools
