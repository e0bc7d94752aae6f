// SPDX-License-Identifier: Apache-2.0
/// A host whose CPUs count how often its VMs read memory.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/record/replay.h"
#include "tests/sim/scenarios.h"
#include "tools/sim/scenario/scenario_file.h"

namespace vmnuma::tools {
namespace {

/// Both VMs' memory cannot leave node 0, which has CPUs for both at first, and for one of them
/// later. One waits for memory most of its time, the other hardly. Without spills, which would let
/// both run on both nodes.
Scenario one_has_to_go(bool counts_reads) {
  Scenario scenario;
  scenario.options.spill_enable = 0;
  scenario.name = "one-has-to-go";
  scenario.epochs = 300;
  scenario.host = small_host(2);
  scenario.host.counts_reads = counts_reads;
  for (const auto& [name, stall] : {std::pair("reads", 600), std::pair("computes", 50)}) {
    ScenarioVm vm = busy_vm(name, 4, 100);
    vm.numatune = NumatuneMode::kStrict;
    vm.memory = kGiB * 2;
    vm.memory_on = {{NodeId{0}, kGiB * 2}};
    vm.pinned_on = {NodeId{0}};
    vm.stall = Permille{stall};
    vm.load = {{0, 40}, {150, 100}};
    scenario.vms.push_back(vm);
  }
  return scenario;
}

TEST(SimCountersTest, TheVmThatReadsLessLivesAwayFromItsMemory) {
  const SimulationResult counted = run_to_end(one_has_to_go(true));
  const SimulationResult alike = run_to_end(one_has_to_go(false));
  EXPECT_THAT(counted.vms[0].homes, testing::ElementsAre(NodeId{0}));
  EXPECT_THAT(counted.vms[1].homes, testing::ElementsAre(NodeId{1}));
  EXPECT_THAT(alike.vms[0].homes, testing::ElementsAre(NodeId{1}));
  EXPECT_LT(counted.lost.value, alike.lost.value);
}

TEST(SimCountersTest, OneMoveDoesForIt) {
  EXPECT_EQ(run_to_end(one_has_to_go(true)).moves, 1);
}

TEST(SimCountersTest, WhatWasCountedReplays) {
  Scenario scenario = one_has_to_go(true);
  Simulation simulation(scenario);
  std::vector<std::string> lines;
  while (!simulation.finished()) {
    if (simulation.epoch() == 50) {
      simulation.record(/*anonymize=*/false);
    }
    simulation.run_epoch();
    for (std::string& line : simulation.take_recording()) {
      lines.push_back(std::move(line));
    }
  }
  std::size_t next = 0;
  const auto report = balancer::replay(
      [&]() -> std::optional<std::string> {
        return next < lines.size() ? std::optional(lines[next++]) : std::nullopt;
      },
      {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->epochs, 200);
  EXPECT_EQ(report->differing, 0);
}

TEST(SimCountersTest, ScenarioFilesSayIt) {
  const Scenario scenario = one_has_to_go(true);
  const auto read = parse_scenario(to_toml(scenario), "f.toml");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->host.counts_reads);
}

}  // namespace
}  // namespace vmnuma::tools
