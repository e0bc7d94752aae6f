// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/crowding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/planner.h"
#include "balancer/core/validator.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::actions_of;
using tests::client_of;
using tests::kCpu;
using tests::next_epoch;
using tests::SnapshotBuilder;
using tests::VmSpec;

/// Two nodes of 2; on node 0 `a`, as told, which hardly runs, and `b`, which runs a little more.
Snapshot two_sleepers(VmSpec a) {
  a.name = "a";
  return SnapshotBuilder()
      .nodes(2, {.cores = 2})
      .vm(a)
      .vm({.name = "b", .vcpus = 2, .busy_pct = 30})
      .build();
}

std::vector<std::string> planned_spreads(const Snapshot& snapshot, const Options& options = {}) {
  const Plan plan = make_plan(snapshot, options, {});
  EXPECT_THAT(violations_of(plan, snapshot, options, {}), IsEmpty());
  return actions_of(snapshot, plan);
}

TEST(CrowdingTest, ANodeIsCrowdedByItsOwnVcpusUntilEnoughOfThemMayRunElsewhere) {
  const Snapshot snapshot = two_sleepers({.vcpus = 2});
  const Options options;
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  Crowding crowding(arrangement);
  EXPECT_TRUE(crowding.is_crowded(0));
  EXPECT_FALSE(crowding.is_crowded(1));
  const auto anywhere = [](NodeIndex) { return true; };
  EXPECT_EQ(crowding.least_filled(0, anywhere), 1U);
  EXPECT_EQ(crowding.least_filled(0, [](NodeIndex node) { return node == 0; }), 0U);
  crowding.spread(client_of(snapshot, "a"), 1);
  EXPECT_TRUE(crowding.is_crowded(0));  // three halves on two CPUs
  crowding.spread(client_of(snapshot, "b"), 1);
  EXPECT_FALSE(crowding.is_crowded(0));
}

TEST(CrowdingTest, ANodeIsNotCrowdedByClientsThatOnlySpillThere) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 2})
                                .vm({.name = "a", .vcpus = 6})
                                .vm({.name = "b", .homes = {1}, .vcpus = 2})
                                .build();
  const Options options;
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  Crowding crowding(arrangement);
  crowding.spread(client_of(snapshot, "a"), 1);
  EXPECT_FALSE(crowding.is_crowded(1));
}

TEST(CrowdingTest, AClientHardlyRunsBelowATenthAndOneThatSpillsBelowAFifth) {
  const auto at = [](std::int64_t busy_pct, bool spills) {
    Snapshot snapshot = two_sleepers({.vcpus = 2, .busy_pct = busy_pct});
    ClientState& client = snapshot.clients[client_of(snapshot, "a")];
    client.spills_to = spills ? 1 : kNoNode;
    return hardly_runs(snapshot, client);
  };
  EXPECT_TRUE(at(9, false));
  EXPECT_FALSE(at(10, false));
  EXPECT_TRUE(at(19, true));
  EXPECT_FALSE(at(20, true));
}

TEST(CrowdingTest, WhatAClientWantedLatelyKeepsItFromHardlyRunning) {
  Snapshot snapshot = two_sleepers({.vcpus = 2, .busy_pct = 5});
  snapshot.clients[client_of(snapshot, "a")].recent = kCpu;
  EXPECT_THAT(planned_spreads(snapshot), IsEmpty());
}

TEST(CrowdingTest, AClientThatHardlyRunsOnACrowdedNodeSpillsAheadOfNeed) {
  EXPECT_THAT(planned_spreads(two_sleepers({.vcpus = 2, .busy_pct = 5})),
              ElementsAre("spill a:0+1"));
}

TEST(CrowdingTest, NoClientSpillsAheadOfNeedFromANodeWithACpuForEachVcpu) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 4})
                                .vm({.name = "a", .vcpus = 2, .busy_pct = 5})
                                .vm({.name = "b", .vcpus = 2, .busy_pct = 5})
                                .build();
  EXPECT_THAT(planned_spreads(snapshot), IsEmpty());
}

TEST(CrowdingTest, NoClientSpillsAheadOfNeedWithoutSpills) {
  Options options;
  options.spill_enable = 0;
  EXPECT_THAT(planned_spreads(two_sleepers({.vcpus = 2, .busy_pct = 5}), options), IsEmpty());
}

TEST(CrowdingTest, AHostAtRestKeepsItsSpillsAheadOfNeed) {
  const Options options;
  Snapshot now = two_sleepers({.vcpus = 2, .busy_pct = 5});
  now = next_epoch(now, make_plan(now, options, {}), options);
  for (int epoch = 0; epoch < 20; ++epoch) {
    const Plan plan = make_plan(now, options, {});
    EXPECT_THAT(plan.actions, IsEmpty()) << epoch;
    EXPECT_THAT(violations_of(plan, now, options, {}), IsEmpty());
    now = next_epoch(now, plan, options);
  }
}

TEST(CrowdingTest, ASpillAheadOfNeedEndsWhenItsClientRunsAndNoneWaits) {
  const Options options;
  Snapshot now = two_sleepers({.vcpus = 2, .busy_pct = 5});
  now = next_epoch(now, make_plan(now, options, {}), options);
  now.clients[client_of(now, "a")].demand = kCpu;
  tests::run_and_share_out(now, options);
  EXPECT_THAT(planned_spreads(now), ElementsAre("spill a:0"));
}

/// A node of 4 with a busy VM on it, and one whose memory no VM fits into; `new` starts.
Snapshot first_home_on_a_full_node(VmSpec started) {
  started.name = "new";
  started.homes = {kNoNode};
  started.measured = false;
  started.memory_gib = {4, 0};
  started.size_gib = 4;
  return SnapshotBuilder()
      .node({.cores = 4})
      .node({.cores = 4, .memory_gib = 1})
      .vm({.name = "busy", .vcpus = 4})
      .vm(started)
      .build();
}

TEST(FirstHomesTest, OnAFullNodeAClientRunsOnASecondOneFromTheStart) {
  EXPECT_THAT(planned_spreads(first_home_on_a_full_node({.vcpus = 2})),
              ElementsAre("initial-placement new:-->0+1"));
}

TEST(FirstHomesTest, OnANodeWithEnoughForAllThereIsNoSecond) {
  EXPECT_THAT(planned_spreads(first_home_on_a_full_node({.vcpus = 2, .busy_pct = 0})),
              ElementsAre("initial-placement new:-->0"));
}

/// A VM as wide as each of two nodes starts, while others use that much of the first.
std::vector<std::string> spreads_of_a_vm_as_wide_as_a_node(std::int64_t others_pct) {
  return planned_spreads(SnapshotBuilder()
                             .node({.cores = 4, .others_pct = others_pct})
                             .node({.cores = 4, .memory_gib = 1})
                             .vm({.name = "new",
                                  .homes = {kNoNode},
                                  .vcpus = 4,
                                  .memory_gib = {4, 0},
                                  .size_gib = 4,
                                  .measured = false})
                             .build());
}

TEST(FirstHomesTest, ForTheLittleThatOthersUseOfANodeThereIsNoSecond) {
  // Numa.MigThreshold is 2 % of a node: 8 % of a CPU.
  EXPECT_THAT(spreads_of_a_vm_as_wide_as_a_node(7), ElementsAre("initial-placement new:-->0"));
  EXPECT_THAT(spreads_of_a_vm_as_wide_as_a_node(8), ElementsAre("initial-placement new:-->0+1"));
}

TEST(FirstHomesTest, WithoutSpillsThereIsNoSecond) {
  Options options;
  options.spill_enable = 0;
  EXPECT_THAT(planned_spreads(first_home_on_a_full_node({.vcpus = 2}), options),
              ElementsAre("initial-placement new:-->0"));
}

TEST(FirstHomesTest, ASecondNodeStaysUntilItIsSeenWhatTheClientWants) {
  const Options options;
  Snapshot now = first_home_on_a_full_node({.vcpus = 2});
  now = next_epoch(now, make_plan(now, options, {}), options);
  VmState& vm = now.vms[now.clients[client_of(now, "new")].vm];
  vm.measured = true;
  ASSERT_EQ(now.clients[client_of(now, "new")].spills_to, 1U);
  now.clients[client_of(now, "new")].epochs_here = 1;
  now.clients[client_of(now, "new")].demand = CpuTime{};
  now.clients[client_of(now, "busy")].demand = kCpu * 2;
  EXPECT_THAT(planned_spreads(now), IsEmpty());
  now.clients[client_of(now, "new")].epochs_here = 2;
  now.clients[client_of(now, "new")].demand = kCpu;
  tests::run_and_share_out(now, options);
  EXPECT_THAT(planned_spreads(now), ElementsAre("spill new:0"));
}

TEST(FirstHomesTest, OfSecondNodesGivenWithHomesThoseStayThatPayMost) {
  Snapshot now = SnapshotBuilder()
                     .node({.cores = 4})
                     .node({.cores = 4, .memory_gib = 1})
                     .vm({.name = "a", .vcpus = 1, .memory_gib = {4, 0}, .epochs_here = 2})
                     .vm({.name = "b", .vcpus = 2, .memory_gib = {4, 0}, .epochs_here = 2})
                     .vm({.name = "c", .vcpus = 3, .memory_gib = {4, 0}, .epochs_here = 2})
                     .build();
  for (const char* name : {"a", "b"}) {
    now.clients[client_of(now, name)].spills_to = 1;
  }
  EXPECT_THAT(planned_spreads(now), ElementsAre("spill a:0"));
}

}  // namespace
}  // namespace vmnuma::balancer
