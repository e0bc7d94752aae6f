// SPDX-License-Identifier: Apache-2.0
/// Long-term fairness over minutes: plans are made and carried out epoch by epoch in a model in
/// which the kernel shares a node by weight.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/planner.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using tests::kCpu;
using tests::SnapshotBuilder;

struct Story {
  std::map<std::string, double> cpus;  ///< on average, per VM
  int moves = 0;
};

/// The memory of a VM that moves is on its way for `travel` epochs, but costs nothing.
Story run(Snapshot snapshot, int epochs, const Options& options, int travel = 0) {
  Story story;
  for (int i = 0; i < epochs; ++i) {
    for (const ClientState& client : snapshot.clients) {
      story.cpus[snapshot.vms[client.vm].name] += static_cast<double>(client.effective_used.value) /
                                                  static_cast<double>(kCpu.value) / epochs;
    }
    const Plan plan = make_plan(snapshot, options, {});
    story.moves += static_cast<int>(plan.actions.size());
    snapshot = tests::next_epoch(snapshot, plan, options);
    for (const Action& action : plan.actions) {
      for (const Relocation& relocation : action.relocations) {
        const auto moved =
            std::find_if(snapshot.vms.begin(), snapshot.vms.end(),
                         [&](const auto& vm) { return vm.id == relocation.client.vm; });
        moved->epochs_travelled = travel;
        moved->epochs_rested = -travel;  // it has only left
      }
    }
  }
  return story;
}

/// `vms` VMs that want 4 CPUs each, on nodes of 4, as evenly as that goes.
Snapshot too_many(int vms, int nodes) {
  SnapshotBuilder builder;
  builder.nodes(nodes, {.cores = 4});
  for (int i = 0; i < vms; ++i) {
    builder.vm({.name = std::string(1, static_cast<char>('a' + i)),
                .homes = {static_cast<std::size_t>(i % nodes)},
                .vcpus = 4});
  }
  return builder.build();
}

TEST(RotationTest, ThreeEqualVmsOnTwoNodesGetTwoThirdsEach) {
  const Story story = run(too_many(3, 2), 900, tests::walls());
  for (const auto& [name, cpus] : story.cpus) {
    EXPECT_NEAR(cpus, 8.0 / 3, 0.05) << name;
  }
  // A turn every 5 epochs at most.
  EXPECT_LE(story.moves, 180);
}

TEST(RotationTest, AnyNumberOfEqualVmsGetEqualShares) {
  for (const auto& [vms, nodes] : {std::pair{5, 2}, {5, 3}, {5, 4}, {7, 3}, {7, 4}, {9, 4}}) {
    const Story story = run(too_many(vms, nodes), 3000, tests::walls());
    for (const auto& [name, cpus] : story.cpus) {
      EXPECT_NEAR(cpus, 4.0 * nodes / vms, 0.08) << name << " of " << vms << " on " << nodes;
    }
  }
}

TEST(RotationTest, AVmWhoseMemoryTravelledForLongWaitsLongerForItsNextTurn) {
  Snapshot snapshot = too_many(3, 2);
  for (VmState& vm : snapshot.vms) {
    vm.epochs_travelled = 10;
    vm.epochs_rested = 0;
  }
  Options options = tests::walls();
  options.lterm_rest_times = 4;
  EXPECT_EQ(run(snapshot, 39, options).moves, 0);
  EXPECT_GT(run(snapshot, 60, options).moves, 0);
  options.lterm_rest_times = 0;
  EXPECT_GT(run(snapshot, 39, options).moves, 0);
}

TEST(RotationTest, VmsWhoseMemoryTravelsForLongGetEqualSharesToo) {
  for (const int travel : {10, 30, 70}) {
    const int rounds = 10;
    const int round = 3 * travel + travel * static_cast<int>(tests::walls().lterm_rest_times);
    const Story story = run(too_many(3, 2), rounds * round, tests::walls(), travel);
    for (const auto& [name, cpus] : story.cpus) {
      EXPECT_NEAR(cpus, 8.0 / 3, 0.1) << name << ", travels of " << travel;
    }
    EXPECT_THAT(story.moves, testing::AllOf(testing::Gt(2 * rounds), testing::Le(3 * rounds + 3)));
  }
}

TEST(RotationTest, WithoutLongTermFairnessOneVmKeepsItsNode) {
  Options options = tests::walls();
  options.lterm_fairness_interval = 0;
  const Story story = run(too_many(3, 2), 300, options);
  EXPECT_NEAR(story.cpus.at("a"), 2.0, 0.01);
  EXPECT_NEAR(story.cpus.at("b"), 4.0, 0.01);
  EXPECT_EQ(story.moves, 0);
}

TEST(RotationTest, NoVmTakesTurnsBelowTheLongTermThreshold) {
  // Two that share a node are owed a third of it more than the one that has its own.
  Options options = tests::walls();
  options.lterm_mig_imbal_threshold = 100;
  EXPECT_EQ(run(too_many(3, 2), 100, options).moves, 0);
  options.lterm_mig_imbal_threshold = 10;
  EXPECT_GT(run(too_many(3, 2), 100, options).moves, 0);
}

TEST(RotationTest, NoVmTakesTurnsWhereAllWaitAlike) {
  EXPECT_EQ(run(too_many(4, 2), 100, tests::walls()).moves, 0);
}

TEST(RotationTest, NoVmTakesTurnsForWhatTheHostItselfTakes) {
  // Each has a node of its own; on one of them the host needs a CPU for itself.
  SnapshotBuilder builder;
  builder.node({.cores = 4, .others_pct = 100}).node({.cores = 4});
  for (int i = 0; i < 2; ++i) {
    builder.vm({.name = std::string(1, static_cast<char>('a' + i)),
                .homes = {static_cast<std::size_t>(i)},
                .vcpus = 4});
  }
  EXPECT_EQ(run(builder.build(), 100, tests::walls()).moves, 0);
}

TEST(RotationTest, AHostWithTimeForAllComesToRest) {
  // 7 VMs of 3 CPUs want 21 of 24, which nodes of 8 cannot quite serve: three share 8 for 9.
  SnapshotBuilder builder;
  builder.nodes(3, {.cores = 8});
  for (int i = 0; i < 7; ++i) {
    builder.vm({.name = std::string(1, static_cast<char>('a' + i)), .homes = {0}, .vcpus = 3});
  }
  Snapshot snapshot = builder.build();
  for (int i = 0; i < 60; ++i) {
    snapshot = tests::next_epoch(snapshot, make_plan(snapshot, tests::walls(), {}), tests::walls());
  }
  EXPECT_LE(make_plan(snapshot, tests::walls(), {}).lost, kCpu + CpuTime{10});
}

}  // namespace
}  // namespace vmnuma::balancer
