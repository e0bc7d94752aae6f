// SPDX-License-Identifier: Apache-2.0
#include "placement/strategy.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/initial.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::Ne;
using tests::SnapshotBuilder;
using tests::VmSpec;

VmSpec starting(const std::string& name, PlacementStrategy strategy, std::int32_t vcpus = 2,
                std::size_t clients = 1) {
  VmSpec vm{.name = name,
            .homes = std::vector<NodeIndex>(clients, kNoNode),
            .vcpus = vcpus,
            .busy_pct = 20,
            .size_gib = 1,
            .measured = false};
  vm.policy.strategy = strategy;
  return vm;
}

VmSpec living(const std::string& name, NodeIndex home, std::int32_t vcpus) {
  return {.name = name, .homes = {home}, .vcpus = vcpus, .busy_pct = 10};
}

/// The homes that all VMs without one get, one VM after the other.
std::vector<NodeIndex> place_by_strategy(const Snapshot& snapshot) {
  static const Options kDefaults;
  Arrangement arrangement(snapshot, kDefaults, Arrangement::Basis::kLoad);
  std::vector<NodeIndex> homes;
  NodeIndex round_robin = kNoNode;
  for (const VmState& vm : snapshot.vms) {
    for (const HomeChoice& choice :
         choose_homes(arrangement, vm.first_client, vm.client_count, round_robin)) {
      homes.push_back(choice.home);
    }
  }
  return homes;
}

/// Node 0 has 2 of 8 CPUs allocated, node 1 has 4 and node 2 has 1.
SnapshotBuilder unevenly_allocated() {
  SnapshotBuilder builder;
  builder.nodes(3, {.cores = 8, .memory_gib = 64})
      .vm(living("0-a", 0, 2))
      .vm(living("0-b", 1, 4))
      .vm(living("0-c", 2, 1));
  return builder;
}

TEST(StrategyTest, MostAllocatedTakesTheFullestNodeThatHasCpus) {
  const auto most = PlacementStrategy::kMostAllocated;
  EXPECT_THAT(place_by_strategy(unevenly_allocated().vm(starting("a", most, 4)).build()),
              ElementsAre(1));
  // Five more are not there on node 1, and exactly fit node 0 after one.
  EXPECT_THAT(place_by_strategy(unevenly_allocated().vm(starting("a", most, 5)).build()),
              ElementsAre(0));
}

TEST(StrategyTest, LeastAllocatedTakesTheEmptiestNode) {
  const auto least = PlacementStrategy::kLeastAllocated;
  EXPECT_THAT(place_by_strategy(unevenly_allocated().vm(starting("a", least)).build()),
              ElementsAre(2));
  // 1 and 2 of 8 CPUs; then 2 and 3.
  EXPECT_THAT(
      place_by_strategy(
          unevenly_allocated().vm(starting("a", least, 2)).vm(starting("b", least, 2)).build()),
      ElementsAre(2, 0));
}

TEST(StrategyTest, AllocatedIsAShareOfTheNodeAndNotANumber) {
  // 4 of 16 CPUs are less than 3 of 8.
  SnapshotBuilder builder;
  builder.node({.cores = 8, .memory_gib = 64})
      .node({.cores = 16, .memory_gib = 64})
      .vm(living("0-a", 0, 3))
      .vm(living("0-b", 1, 4));
  EXPECT_THAT(
      place_by_strategy(
          SnapshotBuilder(builder).vm(starting("a", PlacementStrategy::kLeastAllocated)).build()),
      ElementsAre(1));
  EXPECT_THAT(
      place_by_strategy(
          SnapshotBuilder(builder).vm(starting("a", PlacementStrategy::kMostAllocated)).build()),
      ElementsAre(0));
}

TEST(StrategyTest, WhatIsAllocatedCountsWhetherItIsUsedOrNot) {
  // By lost time node 0 is the calmest; by allocation it is the fullest.
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8, .memory_gib = 64})
      .vm({.name = "0-idle", .homes = {0}, .vcpus = 6, .busy_pct = 1})
      .vm({.name = "0-busy", .homes = {1}, .vcpus = 4, .busy_pct = 100});
  EXPECT_THAT(
      place_by_strategy(
          SnapshotBuilder(builder).vm(starting("a", PlacementStrategy::kLeastAllocated)).build()),
      ElementsAre(1));
  EXPECT_THAT(
      place_by_strategy(
          SnapshotBuilder(builder).vm(starting("a", PlacementStrategy::kLeastLostTime)).build()),
      ElementsAre(0));
}

TEST(StrategyTest, RoomForTheMemoryComesFirst) {
  Snapshot snapshot =
      unevenly_allocated().vm(starting("a", PlacementStrategy::kMostAllocated)).build();
  snapshot.nodes[1].free = Bytes{};
  EXPECT_THAT(place_by_strategy(snapshot), ElementsAre(0));
}

TEST(StrategyTest, AHardGroupComesFirst) {
  SnapshotBuilder builder;
  VmSpec there = living("0-b", 1, 4);
  VmSpec coming = starting("a", PlacementStrategy::kMostAllocated);
  there.policy.anti_affinity_group = coming.policy.anti_affinity_group = "apart";
  there.policy.anti_affinity_hard = coming.policy.anti_affinity_hard = true;
  builder.nodes(2, {.cores = 8, .memory_gib = 64}).vm(there).vm(coming);
  EXPECT_THAT(place_by_strategy(builder.build()), ElementsAre(0));
}

TEST(StrategyTest, WhereNoNodeHasCpusLostTimeDecides) {
  for (const auto strategy : {PlacementStrategy::kMostAllocated, PlacementStrategy::kLeastAllocated,
                              PlacementStrategy::kDistributeEvenly}) {
    SnapshotBuilder builder;
    builder.nodes(2, {.cores = 4, .memory_gib = 64})
        .vm({.name = "0-a", .homes = {0}, .vcpus = 4, .busy_pct = 100})
        .vm({.name = "0-b", .homes = {1}, .vcpus = 4, .busy_pct = 10})
        .vm(starting("a", strategy));
    EXPECT_THAT(place_by_strategy(builder.build()), ElementsAre(1)) << name_of(strategy);
  }
}

TEST(StrategyTest, ABootStormIsPackedNodeByNodeWithoutOvercommit) {
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 8, .memory_gib = 64});
  for (int i = 0; i < 10; ++i) {
    builder.vm(starting("vm" + std::to_string(i), PlacementStrategy::kMostAllocated));
  }
  std::map<NodeIndex, int> count;
  for (const NodeIndex home : place_by_strategy(builder.build())) {
    ++count[home];
  }
  EXPECT_THAT(count, ElementsAre(std::pair(0U, 4), std::pair(1U, 4), std::pair(2U, 2)));
}

TEST(StrategyTest, AWideVmIsSpreadEvenly) {
  // Two of four nodes are twice as large: by share alone both clients of a pair would go to one.
  for (const auto strategy :
       {PlacementStrategy::kDistributeEvenly, PlacementStrategy::kMostAllocated}) {
    SnapshotBuilder builder;
    builder.node({.cores = 8, .memory_gib = 64})
        .node({.cores = 64, .memory_gib = 64})
        .vm(starting("wide", strategy, 4, 2));
    std::vector<NodeIndex> homes = place_by_strategy(builder.build());
    EXPECT_THAT(homes.at(0), Ne(homes.at(1))) << name_of(strategy);
  }
}

TEST(StrategyTest, DistributeEvenlyStartsOnTheEmptiestNodes) {
  SnapshotBuilder builder = unevenly_allocated();
  const auto homes = place_by_strategy(
      builder.vm(starting("wide", PlacementStrategy::kDistributeEvenly, 2, 2)).build());
  EXPECT_THAT(homes, testing::UnorderedElementsAre(0, 2));
}

TEST(StrategyTest, ByDefaultNoNodeIsPreferred) {
  for (const auto strategy : {PlacementStrategy::kHost, PlacementStrategy::kLeastLostTime}) {
    const Snapshot snapshot = unevenly_allocated().vm(starting("a", strategy)).build();
    const Options options;
    const Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
    for (NodeIndex node = 0; node < 3; ++node) {
      EXPECT_EQ(strategy_rank(arrangement, tests::client_of(snapshot, "a"), node), StrategyRank{});
    }
  }
}

TEST(StrategyTest, CoresThatBelongToOneVmAreAllocatedWhole) {
  SnapshotBuilder builder;
  VmSpec alone = living("0-alone", 0, 3);
  alone.policy.cpu_binding = CpuBinding::kExclusive;
  builder.nodes(2, {.cores = 8, .threads_per_core = 2, .memory_gib = 64}).vm(alone);
  Snapshot snapshot = builder.build();
  snapshot.clients[0].exclusive_cores = 2;
  const Options options;
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  EXPECT_EQ(allocated_cpus(arrangement, 0, kNoClient), 4);
  EXPECT_EQ(allocated_cpus(arrangement, 0, 0), 0);
  // What was not given is one CPU for each vCPU.
  snapshot.clients[0].exclusive_cores = 0;
  EXPECT_EQ(allocated_cpus(arrangement, 0, kNoClient), 3);
}

}  // namespace
}  // namespace vmnuma
