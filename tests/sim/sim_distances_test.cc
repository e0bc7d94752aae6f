// SPDX-License-Identifier: Apache-2.0
/// A host whose firmware is wrong about how far its nodes are from each other.
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"
#include "tools/sim/scenario/scenario_file.h"

namespace vmnuma::tools {
namespace {

/// Memory of node 0 is near node 1 and far from node 2; the firmware says the opposite. The VM's
/// memory cannot leave node 0, where others need all CPUs, so it is best off on node 1. Without
/// spills, which would let it run there and keep its home.
Scenario wrong_slit(bool measured) {
  Scenario scenario;
  scenario.options.spill_enable = 0;
  scenario.name = "wrong-slit";
  scenario.epochs = 60;
  scenario.host = small_host(3);
  scenario.host.distances = {10, 15, 31, 15, 10, 31, 31, 31, 10};
  scenario.host.firmware_distances = {10, 31, 15, 31, 10, 15, 15, 15, 10};
  scenario.host.distances_are_measured = measured;
  scenario.host.others = {{NodeId{0}, 0, std::nullopt, 400}};
  ScenarioVm vm = busy_vm("far", 2, 100);
  vm.numatune = NumatuneMode::kStrict;
  vm.memory = kGiB * 2;
  vm.memory_on = {{NodeId{0}, kGiB * 2}};
  vm.pinned_on = {NodeId{0}};
  scenario.vms = {vm};
  return scenario;
}

TEST(SimDistancesTest, WhatWasMeasuredIsActedUponAndNotWhatTheFirmwareSays) {
  const SimulationResult measured = run_to_end(wrong_slit(true));
  const SimulationResult firmware = run_to_end(wrong_slit(false));
  EXPECT_THAT(measured.vms[0].homes, testing::ElementsAre(NodeId{1}));
  EXPECT_THAT(firmware.vms[0].homes, testing::ElementsAre(NodeId{2}));
  EXPECT_LT(measured.lost.value, firmware.lost.value);
}

TEST(SimDistancesTest, ASecondNodeIsOneThatIsNearByMeasuring) {
  const auto spilling = [](bool is_measured) {
    Scenario scenario = wrong_slit(is_measured);
    scenario.options.spill_enable = 1;
    return run_to_end(scenario);
  };
  const SimulationResult measured = spilling(true);
  const SimulationResult firmware = spilling(false);
  EXPECT_LT(measured.lost.value, firmware.lost.value);
}

TEST(SimDistancesTest, AWideVmLivesOnNodesThatAreNearByMeasuring) {
  const auto homes = [](bool is_measured) {
    Scenario scenario;
    scenario.name = "wide";
    scenario.epochs = 20;
    scenario.host = small_host(4);
    scenario.host.distances = {10, 12, 31, 31, 12, 10, 31, 31, 31, 31, 10, 12, 31, 31, 12, 10};
    scenario.host.firmware_distances = {10, 31, 12, 31, 31, 10, 31, 12,
                                        12, 31, 10, 31, 31, 12, 31, 10};
    scenario.host.distances_are_measured = is_measured;
    scenario.vms = {busy_vm("wide", 8, 60)};
    const SimulationResult result = run_to_end(scenario);
    std::vector<std::int32_t> nodes;
    for (const NodeId node : result.vms[0].homes) {
      nodes.push_back(node.value);
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  };
  EXPECT_THAT(homes(true), testing::AnyOf(testing::ElementsAre(0, 1), testing::ElementsAre(2, 3)));
  EXPECT_THAT(homes(false), testing::AnyOf(testing::ElementsAre(0, 2), testing::ElementsAre(1, 3)));
}

TEST(SimDistancesTest, ScenarioFilesHaveBothMatrices) {
  const std::string host =
      "epochs = 1\n[host]\nnodes = 2\ncores_per_node = 1\nmemory_per_node = \"1GiB\"\n";
  const auto scenario = parse_scenario(host +
                                           "distances = [[10, 15], [15, 10]]\n"
                                           "firmware_distances = [[10, 31], [31, 10]]\n"
                                           "decisions_use = \"firmware\"\n",
                                       "f.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_THAT(scenario->host.distances, testing::ElementsAre(10, 15, 15, 10));
  EXPECT_THAT(scenario->host.firmware_distances, testing::ElementsAre(10, 31, 31, 10));
  EXPECT_FALSE(scenario->host.distances_are_measured);
  const auto wrong = parse_scenario(host + "firmware_distances = [[10, 31]]\n", "f.toml");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              testing::HasSubstr("'firmware_distances' must be 2 arrays of 2 integers"));
}

}  // namespace
}  // namespace vmnuma::tools
