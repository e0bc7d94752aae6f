// SPDX-License-Identifier: Apache-2.0
// Releasing VMs on a host where pins have effects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using balancer::ManageRequest;
using balancer::ReleaseRequest;
using testing::Each;
using testing::ElementsAre;

/// Three busy VMs on node 0 of two, of which the balancer moves one or two away.
Scenario pile() {
  Scenario scenario;
  scenario.name = "release";
  scenario.epochs = 60;
  scenario.host = small_host(2);
  for (int i = 0; i < 2; ++i) {
    scenario.vms.push_back(busy_vm("vm" + std::to_string(i), 4, 100));
    scenario.vms.back().pinned_on = {NodeId{0}};
  }
  return scenario;
}

TEST(ReleaseSimTest, AllOnOneNodeAgainAndLeftThere) {
  Simulation simulation(pile());
  run_until(simulation, 30);
  EXPECT_EQ(simulation.figures().imbalance.value, 0);
  ASSERT_TRUE(simulation.ask(ReleaseRequest{}));
  run_until(simulation, 33);
  // Both want all of node 0, as at the start.
  EXPECT_EQ(simulation.figures().imbalance.value, 1000);
  run_until(simulation, 50);
  EXPECT_EQ(simulation.figures().imbalance.value, 1000);
  ASSERT_TRUE(simulation.ask(ManageRequest{}));
  run_until(simulation, 60);
  // But for what copying the memory takes.
  EXPECT_LE(simulation.figures().imbalance.value, 20);
}

TEST(ReleaseSimTest, ARestartOfTheDaemonKeepsItReleased) {
  Scenario scenario = pile();
  scenario.faults.push_back({40, FaultKind::kDaemonRestart, std::nullopt, std::nullopt, 1});
  Simulation simulation(scenario);
  run_until(simulation, 30);
  ASSERT_TRUE(simulation.ask(ReleaseRequest{}));
  run_until(simulation, 60);
  EXPECT_EQ(simulation.figures().imbalance.value, 1000);
  for (const VmResult& vm : simulation.result().vms) {
    EXPECT_THAT(vm.homes, Each(NodeId{}));
  }
}

TEST(ReleaseSimTest, WhatWasFoundOutlivesTheDaemon) {
  Scenario scenario = pile();
  scenario.faults.push_back({25, FaultKind::kDaemonRestart, std::nullopt, std::nullopt, 1});
  Simulation simulation(scenario);
  run_until(simulation, 35);
  EXPECT_EQ(simulation.figures().imbalance.value, 0);
  ASSERT_TRUE(simulation.ask(ReleaseRequest{}));
  run_until(simulation, 40);
  EXPECT_EQ(simulation.figures().imbalance.value, 1000);
}

}  // namespace
}  // namespace vmnuma::tools
