// SPDX-License-Identifier: Apache-2.0
/// What is measured beside an action; when it is, and the breaker, are tested with the controller.
#include "balancer/core/outcomes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/planner.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using placement::kNoNode;
using placement::Options;
using placement::Permille;
using placement::Plan;
using placement::Snapshot;
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
  EXPECT_EQ(measure(before, {}).lost, placement::CpuTime{});
  const Plan plan = make_plan(before, options, {});
  ASSERT_EQ(plan.actions.front().reason, placement::Reason::kAffinityMove);
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
  ASSERT_EQ(plan.actions.front().reason, placement::Reason::kMemoryPull);
  Outcomes outcomes;
  outcomes.began(1, plan.actions.front(), snapshot, options);
  outcomes.ended(1, /*done=*/true, /*failed=*/false, options, snapshot.epoch);
  snapshot.epoch += Outcomes::kSettleEpochs;
  snapshot.clients[0].owed = tests::kCpu * 100;
  EXPECT_FALSE(outcomes.settle(snapshot, options).front().harmful);
  EXPECT_FALSE(outcomes.breaker_open(snapshot.epoch));
}

}  // namespace
}  // namespace vmnuma::balancer
