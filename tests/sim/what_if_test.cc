// SPDX-License-Identifier: Apache-2.0
// What would be is what then is, on a host that is known in full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using balancer::PlanView;
using balancer::WhatIfRequest;
using balancer::WhatIfView;

template <class View>
View answer_to(Simulation& simulation, const balancer::Command& command) {
  return std::get<View>(simulation.ask(command).value());
}

/// Two nodes of 4 cores, all VMs on node 0 and busy all the time.
Scenario pile(std::int32_t vms) {
  Scenario scenario;
  scenario.name = "pile";
  scenario.epochs = 60;
  scenario.host = small_host(2);
  for (std::int32_t i = 0; i < vms; ++i) {
    scenario.vms.push_back(busy_vm("vm" + std::to_string(i), 4, 100));
    scenario.vms.back().pinned_on = {NodeId{0}};
  }
  return scenario;
}

TEST(WhatIfSimTest, WithoutAChangeItIsTheNextPlan) {
  Scenario scenario = pile(2);
  scenario.options.rebalance_enable = 0;  // or all moves would be made before rates are known
  Simulation simulation(scenario);
  int plans_with_moves = 0;
  for (int epoch = 0; epoch < 20; ++epoch) {
    simulation.run_epoch();
    if (epoch < 2) {
      continue;  // rates need two readings
    }
    if (epoch == 2) {
      ASSERT_TRUE(simulation.ask(balancer::OptionsSetRequest{"Numa.RebalanceEnable", 1, false}));
    }
    const auto foretold = answer_to<WhatIfView>(simulation, WhatIfRequest{}).plan;
    simulation.run_epoch();
    const auto plan = answer_to<PlanView>(simulation, balancer::PlanRequest{});
    EXPECT_EQ(foretold.epoch, plan.epoch);
    // Pulls follow the memory on its way, which cannot be foretold.
    const auto moves = [](const PlanView& view) {
      std::vector<std::string> sentences;
      for (const auto& action : view.actions) {
        if (action.reason != "memory-pull") {
          sentences.push_back(action.relocations.front().vm + " by " + action.reason);
        }
      }
      return sentences;
    };
    EXPECT_EQ(moves(foretold), moves(plan)) << "epoch " << epoch;
    plans_with_moves += moves(plan).empty() ? 0 : 1;
  }
  EXPECT_GT(plans_with_moves, 0);
}

TEST(WhatIfSimTest, ANewVmGetsTheHomeThatWasForetold) {
  Scenario scenario = pile(1);
  scenario.vms.push_back(busy_vm("late", 4, 100));
  scenario.vms.back().start = 30;
  Simulation simulation(scenario);
  while (simulation.epoch() < 30) {
    simulation.run_epoch();
  }
  WhatIfRequest request;
  request.add = {{4, kGiB.value, 100, 1024}};
  const auto foretold = answer_to<WhatIfView>(simulation, request);
  ASSERT_EQ(foretold.homes.size(), 1U);
  EXPECT_EQ(foretold.homes[0].home, NodeId{1});
  EXPECT_EQ(foretold.after.lost_ms, 0);
  while (!simulation.finished()) {
    simulation.run_epoch();
  }
  EXPECT_THAT(simulation.result().vms[1].homes, testing::ElementsAre(foretold.homes[0].home));
}

TEST(WhatIfSimTest, ARemovedVmsShortageEnds) {
  Scenario scenario = pile(2);
  scenario.options.spill_enable = 0;
  scenario.options.rebalance_enable = 0;
  Simulation simulation(scenario);
  for (int epoch = 0; epoch < 3; ++epoch) {
    simulation.run_epoch();
  }
  WhatIfRequest request;
  request.remove = {"vm0"};
  const auto answer = answer_to<WhatIfView>(simulation, request);
  // Both want 4 CPUs of the 8 and share the 4 of one node.
  EXPECT_EQ(answer.before.lost_ms, 8000);
  EXPECT_EQ(answer.after.lost_ms, 0);
}

}  // namespace
}  // namespace vmnuma::tools
