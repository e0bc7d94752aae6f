// SPDX-License-Identifier: Apache-2.0
/// What is measured of an action; when it is, and the breaker, are tested with the controller.
#include "balancer/core/outcomes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/planner.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using tests::next_epoch;
using tests::SnapshotBuilder;

Snapshot crowded() {
  return SnapshotBuilder()
      .node({.cores = 4})
      .node({.cores = 4})
      .node({.cores = 0})
      .vm({.name = "a", .vcpus = 4, .memory_gib = {3, 1}})
      .vm({.name = "b", .vcpus = 4})
      .build();
}

TEST(OutcomesMeasureTest, TakesOwedTimeFarMemoryAndNodesThatCanBeAHome) {
  const Snapshot snapshot = crowded();
  const Measured measured = measure(snapshot, {});
  EXPECT_EQ(measured.demand, tests::kCpu * 8);
  EXPECT_GT(measured.lost, tests::kCpu * 4);  // 4 CPUs owed, and 1 GiB far away
  EXPECT_EQ(measured.imbalance, Permille{1000});
  EXPECT_EQ(measure(Snapshot{}, {}), Measured{});
}

TEST(OutcomesMeasureTest, TalkFromNodeToNodeIsLostAndNeverHarm) {
  Options options;
  options.locality_weight_action_affinity = 100;
  options.mig_threshold = 1;  // of 8 CPUs; twice as much talk as counts for one is more
  const auto talking = [](std::int64_t per_second) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 4})
        .vm({.name = "a", .homes = {0}, .vcpus = 4, .busy_pct = 25})
        .vm({.name = "b", .homes = {1}, .vcpus = 4, .busy_pct = 25})
        .chat("a", "b", per_second)
        .build();
  };
  const Snapshot before = talking(100'000);
  const Measured measured = measure(before, options);
  EXPECT_EQ(measured.lost, tests::kCpu / 10);
  EXPECT_EQ(measured.talk, tests::kCpu / 10);
  EXPECT_EQ(measure(before, {}).lost, CpuTime{});
  const Plan plan = make_plan(before, options, {});
  ASSERT_EQ(plan.actions.front().reason, Reason::kAffinityMove);
  Outcomes outcomes;
  outcomes.began(1, plan.actions.front(), before, options);
  outcomes.ended(1, /*done=*/true, /*failed=*/false, options, before.epoch);
  Snapshot after = talking(10'000'000);
  after.epoch += Outcomes::kSettleEpochs;
  EXPECT_FALSE(outcomes.settle(after, options).front().harmful);
}

TEST(OutcomesMeasureTest, LocalityIsKnownOnlyOfClientsThatLiveSomewhere) {
  Snapshot snapshot = crowded();
  EXPECT_EQ(locality_of(snapshot, {snapshot.clients[0].id}), Permille{750});
  EXPECT_EQ(locality_of(snapshot, {}), Permille{1000});
  EXPECT_EQ(locality_of(snapshot, {{snapshot.clients[0].id.vm, 7}}), std::nullopt);
  snapshot.clients[0].memory_known = false;
  EXPECT_EQ(locality_of(snapshot, {snapshot.clients[0].id}), std::nullopt);
  snapshot.clients[1].home = kNoNode;
  EXPECT_EQ(locality_of(snapshot, {snapshot.clients[1].id}), std::nullopt);
}

TEST(OutcomesMeasureTest, PagesAloneNeverCountAsHarm) {
  Options options;
  options.breaker_failures = 1;
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 4})
                          .vm({.name = "a", .homes = {0}, .memory_gib = {6, 2}})
                          .build();
  const Plan plan = make_plan(snapshot, options, {});
  ASSERT_EQ(plan.actions.front().reason, Reason::kMemoryPull);
  Outcomes outcomes;
  outcomes.began(1, plan.actions.front(), snapshot, options);
  outcomes.ended(1, /*done=*/true, /*failed=*/false, options, snapshot.epoch);
  snapshot.epoch += Outcomes::kSettleEpochs;
  snapshot.clients[0].owed = tests::kCpu * 100;
  EXPECT_FALSE(outcomes.settle(snapshot, options).front().harmful);
  EXPECT_FALSE(outcomes.breaker_open(snapshot.epoch));
}

/// What the action saves per epoch.
CpuTime gain(const Prediction& predicted) {
  return predicted.lost_before - predicted.lost_after;
}
CpuTime gain(const MeasuredOutcome& outcome) {
  return outcome.before.lost - outcome.after.lost;
}

/// All VMs on node 0, which has a third of the CPUs that they want.
Snapshot three_times_too_many() {
  return SnapshotBuilder()
      .nodes(3, {.cores = 4})
      .vm({.name = "a", .vcpus = 4})
      .vm({.name = "b", .vcpus = 4})
      .vm({.name = "c", .vcpus = 4})
      .build();
}

/// Watches all of the plan's actions from their beginning.
Outcomes watching(const Plan& plan, const Snapshot& snapshot, const Options& options) {
  Outcomes outcomes;
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    outcomes.began(static_cast<std::int64_t>(i), plan.actions[i], snapshot, options);
    outcomes.pinned(static_cast<std::int64_t>(i), snapshot.epoch);
  }
  return outcomes;
}

/// All of them have ended in this epoch; those after it are like it.
std::vector<MeasuredOutcome> settled(Outcomes& outcomes, const Plan& plan, Snapshot snapshot,
                                     const Options& options) {
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    outcomes.ended(static_cast<std::int64_t>(i), /*done=*/true, /*failed=*/false, options,
                   snapshot.epoch);
  }
  std::vector<MeasuredOutcome> all;
  for (std::int64_t epoch = 0; epoch <= Outcomes::kSettleEpochs; ++epoch) {
    for (const MeasuredOutcome& outcome : outcomes.settle(snapshot, options)) {
      all.push_back(outcome);
    }
    ++snapshot.epoch;
    for (ClientState& client : snapshot.clients) {
      ++client.epochs_here;
    }
  }
  return all;
}

TEST(OutcomesTest, ActionsThatRunAtOnceAreEachCreditedWithWhatTheyBrought) {
  const Options options;
  const Snapshot before = three_times_too_many();
  const Plan plan = make_plan(before, options, {});
  ASSERT_EQ(plan.actions.size(), 2U);
  Outcomes outcomes = watching(plan, before, options);
  const auto measured = settled(outcomes, plan, next_epoch(before, plan, options), options);
  ASSERT_EQ(measured.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(static_cast<double>(gain(measured[i]).value),
                static_cast<double>(gain(plan.actions[i].predicted).value), 100)
        << i;
    EXPECT_FALSE(outcomes.watches(static_cast<std::int64_t>(i)));
  }
}

TEST(OutcomesTest, LoadsThatChangeWhileMemoryTravelsChangeNothing) {
  const Options options;
  const Snapshot before = three_times_too_many();
  const Plan plan = make_plan(before, options, {});
  Outcomes outcomes = watching(plan, before, options);
  Snapshot after = next_epoch(before, plan, options);
  ASSERT_TRUE(outcomes.settle(after, options).empty());
  for (ClientState& client : after.clients) {
    client.demand = client.used = client.owed = CpuTime{};
  }
  after.epoch += 50;
  const auto measured = settled(outcomes, plan, after, options);
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_NEAR(static_cast<double>(gain(measured[0]).value),
              static_cast<double>(gain(plan.actions[0].predicted).value), 100);
}

TEST(OutcomesTest, OwedTimeThatWasNotPredictedIsHarm) {
  Options options;
  options.breaker_failures = 1;
  const Snapshot before = three_times_too_many();
  Plan plan = make_plan(before, options, {});
  plan.actions.resize(1);
  Outcomes outcomes = watching(plan, before, options);
  Snapshot after = next_epoch(before, plan, options);
  // The node that it went to gives it nothing, for a reason that is not seen.
  for (ClientState& client : after.clients) {
    if (client.id == plan.actions[0].relocations[0].client) {
      client.owed = tests::kCpu * 12;
    }
  }
  const auto measured = settled(outcomes, plan, after, options);
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_TRUE(measured[0].harmful);
  EXPECT_TRUE(outcomes.breaker_open(after.epoch));
}

TEST(OutcomesTest, BrokenGroupsAreMeasuredAsTheyArePredicted) {
  const Options options;
  const Snapshot before = SnapshotBuilder()
                              .nodes(2, {.cores = 8})
                              .vm({.name = "a",
                                   .homes = {0},
                                   .vcpus = 2,
                                   .busy_pct = 10,
                                   .policy = {.affinity_group = "g"}})
                              .vm({.name = "b",
                                   .homes = {1},
                                   .vcpus = 2,
                                   .busy_pct = 10,
                                   .policy = {.affinity_group = "g"}})
                              .build();
  const Plan plan = make_plan(before, options, {});
  ASSERT_EQ(plan.actions.front().reason, Reason::kAffinityMove);
  Outcomes outcomes = watching(plan, before, options);
  const auto measured = settled(outcomes, plan, next_epoch(before, plan, options), options);
  EXPECT_EQ(gain(measured.front()), gain(plan.actions.front().predicted));
}

TEST(OutcomesTest, FarDevicesAreMeasuredAsTheyArePredicted) {
  const Options options;
  Snapshot before = SnapshotBuilder()
                        .nodes(2, {.cores = 8})
                        .vm({.name = "a",
                             .homes = {0},
                             .vcpus = 4,
                             .busy_pct = 10,
                             .policy = {.topology_policy = TopologyPolicy::kBestEffort}})
                        .build();
  before.vms.front().device_nodes = {1};
  const Plan plan = make_plan(before, options, {});
  ASSERT_FALSE(plan.actions.empty());
  EXPECT_GT(gain(plan.actions.front().predicted), CpuTime{});
  Outcomes outcomes = watching(plan, before, options);
  const auto measured = settled(outcomes, plan, next_epoch(before, plan, options), options);
  EXPECT_EQ(gain(measured.front()), gain(plan.actions.front().predicted));
}

TEST(OutcomesTest, AnActionWhoseClientsAreGoneIsNotMeasured) {
  const Options options;
  const Snapshot before = three_times_too_many();
  const Plan plan = make_plan(before, options, {});
  Outcomes outcomes = watching(plan, before, options);
  Snapshot empty;
  empty.epoch = before.epoch + 1;
  empty.topology = before.topology;
  empty.nodes = before.nodes;
  EXPECT_TRUE(settled(outcomes, plan, empty, options).empty());
  EXPECT_FALSE(outcomes.watches(0));
}

}  // namespace
}  // namespace vmnuma::balancer
