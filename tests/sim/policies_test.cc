// SPDX-License-Identifier: Apache-2.0
// The other policies do what is documented of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"
#include "tools/sim/comparison.h"

namespace vmnuma::tools {
namespace {

/// So many nodes of 4 cores and 8 GiB; VMs of 2 GiB that have touched it.
Scenario scenario_of(std::int32_t nodes, const std::vector<ScenarioVm>& vms, std::int64_t epochs) {
  Scenario scenario;
  scenario.name = "test";
  scenario.host = small_host(nodes);
  scenario.vms = vms;
  scenario.epochs = epochs;
  return scenario;
}

ScenarioVm vm_on(const std::string& name, std::int32_t node, std::int32_t vcpus, std::int64_t pct) {
  ScenarioVm vm = busy_vm(name, vcpus, pct);
  vm.memory = kGiB * 2;
  vm.pinned_on = {NodeId{node}};
  return vm;
}

SimulationResult run(const Scenario& scenario, std::string_view policy) {
  Simulation simulation(scenario, make_policy(policy));
  while (!simulation.finished()) {
    simulation.run_epoch();
  }
  return simulation.result();
}

std::int64_t whole_pct(Percentage share) {
  return share.value / 1000;
}

const Scenario kPile =
    scenario_of(2, {vm_on("a", 0, 4, 100), vm_on("b", 0, 4, 100)}, /*epochs=*/100);

TEST(PoliciesTest, EveryNameIsAPolicy) {
  for (const std::string_view name : kPeers) {
    EXPECT_NE(make_policy(name), nullptr) << name;
  }
  EXPECT_EQ(make_policy("vmnuma"), nullptr);
}

TEST(PoliciesTest, NonePolicyKeepsThePinsThatAreFound) {
  const SimulationResult result = run(kPile, "none");
  EXPECT_EQ(whole_pct(result.owed), 50);
  EXPECT_EQ(result.node_changes, 0);
  EXPECT_EQ(result.moved.value, 0);
}

TEST(PoliciesTest, NonePolicyLetsTheSchedulerUseBothNodesWhereNoVmIsPinned) {
  Scenario found = kPile;
  for (ScenarioVm& vm : found.vms) {
    vm.placed_on = std::exchange(vm.pinned_on, {});
  }
  const SimulationResult result = run(found, "none");
  EXPECT_EQ(whole_pct(result.owed), 0);
  EXPECT_EQ(result.moved.value, 0);
  EXPECT_LE(whole_pct(result.locality.end), 60);
}

TEST(PoliciesTest, PinsThroughLibvirtTakeTheirTimeAndAWriteToTheCpusetDoesNot) {
  Scenario slow = scenario_of(2, {vm_on("a", 0, 4, 100), vm_on("b", 0, 4, 100)}, /*epochs=*/100);
  slow.faults.push_back({0, FaultKind::kSlowLibvirt, std::nullopt, std::nullopt, 100});
  const auto lost_by = [](const Scenario& scenario, std::string_view policy) {
    return run(scenario, policy).lost.value;
  };
  // Four pins of 3 s each at least, of 200 s in which half of the host is idle until then.
  EXPECT_GE(lost_by(slow, "esxi-defaults"), lost_by(kPile, "esxi-defaults") + 2'000);
  EXPECT_EQ(lost_by(slow, "numad"), lost_by(kPile, "numad"));
  EXPECT_EQ(lost_by(slow, "kernel"), lost_by(kPile, "kernel"));
  EXPECT_EQ(lost_by(slow, "kubelet"), lost_by(kPile, "kubelet"));
}

TEST(PoliciesTest, TheKernelUsesBothNodesAndBringsMemoryAlong) {
  const SimulationResult result = run(kPile, "kernel");
  EXPECT_LE(whole_pct(result.owed), 10);
  EXPECT_GE(whole_pct(result.locality.end), 90);
}

TEST(PoliciesTest, NumadBindsEachToANode) {
  const SimulationResult result =
      run(scenario_of(2, {vm_on("a", 0, 2, 100), vm_on("b", 0, 2, 100)}, /*epochs=*/100), "numad");
  EXPECT_LE(whole_pct(result.owed), 10);
  EXPECT_GE(whole_pct(result.locality.end), 90);
  // Two VMs, one look each, and then 300 s of rest.
  EXPECT_LE(result.node_changes, 4);
}

TEST(PoliciesTest, NumadBindsAVmThatNeedsMoreThanItsTargetOfOneNodeToTwo) {
  // 4 busy vCPUs are more than 85 % of 4 cores, so their memory may stay on either node.
  const SimulationResult result = run(kPile, "numad");
  EXPECT_EQ(result.moved.value, 0);
  EXPECT_LE(whole_pct(result.owed), 10);
}

TEST(PoliciesTest, NumadLeavesSmallAndIdleOnesAlone) {
  ScenarioVm small = vm_on("small", 0, 1, 100);
  small.memory = kMiB * 256;
  const SimulationResult result =
      run(scenario_of(2, {small, vm_on("idle", 0, 4, 10)}, 60), "numad");
  EXPECT_EQ(result.moved.value, 0);
}

TEST(PoliciesTest, TheKubeletPacksAtTheStartAndNeverAgain) {
  // 2 + 2 vCPUs fill node 0, the third goes to node 1.
  ScenarioVm late = vm_on("c", 0, 2, 100);
  late.start = 10;
  const SimulationResult result =
      run(scenario_of(2, {vm_on("a", 1, 2, 100), vm_on("b", 1, 2, 100), late}, 60), "kubelet");
  EXPECT_EQ(whole_pct(result.owed), 0);
  EXPECT_EQ(result.moved.value, 0);  // memory that is there is not moved
}

TEST(PoliciesTest, EsxiMovesOneAwayAndItsMemoryFollows) {
  const SimulationResult result = run(kPile, "esxi-defaults");
  EXPECT_LE(whole_pct(result.owed), 10);
  EXPECT_EQ(result.node_changes, 1);
  EXPECT_GE(whole_pct(result.locality.end), 95);
}

TEST(PoliciesTest, EsxiGoesToWhereMemoryIs) {
  ScenarioVm far = vm_on("far", 0, 2, 50);
  far.memory_on = {{NodeId{1}, kGiB * 2}};
  const SimulationResult result = run(scenario_of(2, {far}, 30), "esxi-defaults");
  EXPECT_EQ(result.node_changes, 1);
  EXPECT_EQ(whole_pct(result.locality.end), 100);
}

TEST(PoliciesTest, TheSameScenarioGivesTheSameFigures) {
  const std::vector<ScenarioComparison> first{compare_policies(kPile, [] {})};
  EXPECT_EQ(to_json(first), to_json({compare_policies(kPile, [] {})}));
  ASSERT_EQ(first[0].policies.size(), kPeers.size() + 1);
  EXPECT_EQ(first[0].policies.back().policy, "vmnuma");
}

}  // namespace
}  // namespace vmnuma::tools
