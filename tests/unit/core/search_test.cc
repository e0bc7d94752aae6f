// SPDX-License-Identifier: Apache-2.0
/// What the planner finds, and the guard it names where it may not: one situation each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/after_plan.h"
#include "balancer/core/guards.h"
#include "balancer/core/planner.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using placement::kGiB;
using placement::kNoNode;
using placement::Options;
using placement::Plan;
using placement::Snapshot;
using placement::VmPolicy;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using tests::actions_of;
using tests::rejections_of;
using tests::SnapshotBuilder;
using tests::VmSpec;

std::vector<std::string> planned(const Snapshot& snapshot, const Options& options = {}) {
  return actions_of(snapshot, make_plan(snapshot, options, {}));
}
std::vector<std::string> refused(const Snapshot& snapshot, const Options& options = {}) {
  return rejections_of(snapshot, make_plan(snapshot, options, {}));
}

/// Two VMs of 4 CPUs on one of two nodes of 4; `a` is as told, `b` is not to be moved.
SnapshotBuilder crowded(VmSpec a) {
  a.name = "a";
  a.vcpus = 4;
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4}).vm(a);
  builder.vm({.name = "b", .vcpus = 4, .policy = VmPolicy{.do_not_move = true}});
  return builder;
}

TEST(PlannerTest, MovesOneOfTwoWhoShareANodeToTheEmptyOne) {
  EXPECT_THAT(planned(crowded({}).build()), ElementsAre("load-move a:0->1"));
}

TEST(PlannerTest, NamesWhatStopsTheOnlyMove) {
  Options options;
  options.move_cost_fixed = 1'000'000'000;
  EXPECT_THAT(planned(crowded({}).build(), options), IsEmpty());
  EXPECT_THAT(planned(crowded({.moving = true}).build()), IsEmpty());
  EXPECT_THAT(planned(crowded({.fresh = false}).build()), IsEmpty());
  EXPECT_THAT(planned(crowded({.measured = false}).build()), IsEmpty());
  EXPECT_THAT(planned(crowded({.epochs_here = 4}).build()), IsEmpty());
  EXPECT_THAT(refused(crowded({.epochs_here = 6, .came_from = 1}).build()),
              Contains("no-return a:0->1"));
  EXPECT_THAT(refused(crowded({.allowed = {0}}).build()), Contains("not-allowed a:0->1"));
  EXPECT_THAT(refused(crowded({.memory_gib = {63, 0}}).build()), Contains("no-room a:0->1"));
}

TEST(PlannerTest, ExplainsWhatABreakerOrASmallHostPrevents) {
  const Snapshot snapshot = crowded({}).build();
  const Plan plan = make_plan(snapshot, {}, {kNoNode, /*breaker_open=*/true});
  EXPECT_THAT(actions_of(snapshot, plan), IsEmpty());
  EXPECT_THAT(rejections_of(snapshot, plan), ElementsAre("breaker a:0->1"));
  Options options;
  options.rebalance_cores_total = 9;
  EXPECT_THAT(refused(snapshot, options), ElementsAre("disabled a:0->1"));
}

TEST(PlannerTest, LimitsHowManyMovesBeginAtOnce) {
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 4});
  for (const char* name : {"a", "b", "c", "d"}) {
    builder.vm({.name = name, .vcpus = 4});
  }
  Options options;
  options.migrations_per_epoch = 2;
  const Snapshot snapshot = builder.build();
  EXPECT_EQ(planned(snapshot, options).size(), 2U);
  EXPECT_THAT(refused(snapshot, options), Contains(StartsWith("action-limit ")));
}

TEST(PlannerTest, WaitsForTheEpochInWhichMovesAreDue) {
  EXPECT_THAT(planned(crowded({}).epoch(31).build()), IsEmpty());
  Options options;
  options.swap_migrate_only = 0;
  EXPECT_THAT(planned(crowded({}).build(), options), Not(Contains(StartsWith("load-move a:0->1"))));
}

TEST(PlannerTest, WithoutMovesThereAreNoneTogetherEither) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 8})
                                .vm({.name = "a", .homes = {0}, .vcpus = 4})
                                .vm({.name = "b", .homes = {0}, .vcpus = 4})
                                .vm({.name = "c", .homes = {0}, .vcpus = 4})
                                .vm({.name = "d", .homes = {0}, .vcpus = 4})
                                .build();
  Options options;
  EXPECT_THAT(planned(snapshot, options), SizeIs(2));
  options.swap_migrate_only = 0;
  EXPECT_THAT(planned(snapshot, options), IsEmpty());
}

TEST(PlannerTest, ExchangesTwoWhereNoMoveHelps) {
  const auto build = [](std::int64_t epochs_since_swap) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 8})
        .vm({.name = "a", .homes = {0}, .vcpus = 6, .epochs_since_swap = epochs_since_swap})
        .vm({.name = "b", .homes = {0}, .vcpus = 5})
        .vm({.name = "c", .homes = {1}, .vcpus = 3})
        .vm({.name = "d", .homes = {1}, .vcpus = 2})
        .build();
  };
  Options options;
  options.mig_thrash_threshold = 0;
  const Plan plan = make_plan(build(100), options, {});
  ASSERT_EQ(plan.actions.size(), 1U);
  EXPECT_EQ(plan.actions[0].relocations.size(), 2U);
  EXPECT_EQ(plan.actions[0].predicted.lost_after, placement::CpuTime{});
  options.swap_load_enable = 0;
  EXPECT_THAT(planned(build(100), options), IsEmpty());
}

TEST(PlannerTest, BringsGroupsTogetherAndApart) {
  const auto two = [](std::vector<placement::NodeIndex> homes, const VmPolicy& policy) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 8})
        .vm({.name = "a", .homes = {homes[0]}, .vcpus = 2, .policy = policy})
        .vm({.name = "b", .homes = {homes[1]}, .vcpus = 2, .policy = policy})
        .build();
  };
  EXPECT_THAT(planned(two({0, 1}, {.affinity_group = "g"})), ElementsAre("affinity-move a:0->1"));
  EXPECT_THAT(planned(two({0, 0}, {.anti_affinity_group = "g"})),
              ElementsAre("affinity-move a:0->1"));
  EXPECT_THAT(planned(two({0, 0}, {.affinity_group = "g"})), IsEmpty());
}

TEST(PlannerTest, AHardGroupIsNeverBroughtTogether) {
  const VmPolicy apart{.anti_affinity_group = "g", .anti_affinity_hard = true};
  const Snapshot snapshot =
      SnapshotBuilder()
          .nodes(2, {.cores = 4})
          .vm({.name = "a", .vcpus = 4, .policy = apart})
          .vm({.name = "b", .vcpus = 4, .policy = VmPolicy{.do_not_move = true}})
          .vm({.name = "c", .homes = {1}, .policy = apart})
          .build();
  EXPECT_THAT(planned(snapshot), Not(Contains("load-move a:0->1")));
  EXPECT_THAT(refused(snapshot), Contains("anti-affinity a:0->1"));
}

TEST(PlannerTest, ClientsGoWhereTheirMemoryIsUnlessCoresWouldBeShort) {
  const auto build = [](std::int32_t others) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 4})
        .vm({.name = "a", .homes = {0}, .vcpus = 2, .memory_gib = {0, 8}})
        .vm({.name = "b", .homes = {1}, .vcpus = others, .policy = VmPolicy{.do_not_move = true}})
        .build();
  };
  EXPECT_THAT(planned(build(1)), ElementsAre("locality-move a:0->1"));
  EXPECT_THAT(refused(build(2)), Contains("core-capacity a:0->1"));
  Options options;
  options.locality_weight_mem = 0;
  EXPECT_THAT(planned(build(1), options), Not(Contains(StartsWith("locality"))));
}

TEST(PlannerTest, TwoWhoHaveEachOthersMemoryChangePlaces) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 4})
                                .vm({.name = "a", .homes = {0}, .vcpus = 3, .memory_gib = {0, 8}})
                                .vm({.name = "b", .homes = {1}, .vcpus = 3, .memory_gib = {8, 0}})
                                .build();
  EXPECT_THAT(planned(snapshot), ElementsAre("locality-swap a:0->1 b:1->0"));
  Options options;
  options.swap_locality_enable = 0;
  EXPECT_THAT(planned(snapshot, options), Not(Contains(StartsWith("locality-swap"))));
}

TEST(PlannerTest, PullsWhatIsWorthIt) {
  const auto build = [](std::vector<std::int64_t> memory) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 4})
        .vm({.name = "a", .homes = {0}, .memory_gib = std::move(memory)})
        .build();
  };
  EXPECT_THAT(planned(build({6, 2})), ElementsAre("memory-pull a:0"));
  EXPECT_THAT(planned(build({55, 1})), IsEmpty());  // less than 2 %
  Options options;
  options.page_mig_enable = 0;
  EXPECT_THAT(planned(build({6, 2}), options), IsEmpty());
}

TEST(PlannerTest, PullsAgainOnlyAfterAWhile) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 4})
                          .vm({.name = "a", .homes = {0}, .memory_gib = {6, 2}})
                          .build();
  snapshot.vms[0].epochs_since_transfer = 10;
  snapshot.vms[0].pull_again_after = 30;
  snapshot.vms[0].left_behind = kGiB * 2;
  EXPECT_THAT(planned(snapshot), IsEmpty());
  snapshot.vms[0].epochs_since_transfer = 30;
  EXPECT_THAT(planned(snapshot), ElementsAre("memory-pull a:0"));
  snapshot.vms[0].epochs_since_transfer = 2;  // not counted yet
  EXPECT_THAT(planned(snapshot), IsEmpty());
}

TEST(AfterPlanTest, HomesAndMemoryAreAsPlannedAndUnknownClientsAreLeftOut) {
  const Snapshot snapshot = crowded({}).build();
  Plan plan = make_plan(snapshot, {}, {});
  placement::Action unknown = plan.actions.front();
  unknown.relocations.front().client.index = 5;
  plan.actions.push_back(unknown);
  const Snapshot after = after_plan(snapshot, plan);
  EXPECT_EQ(after.clients[0].home, 1U);
  EXPECT_EQ(after.clients[0].came_from, 0U);
  EXPECT_EQ(after.clients[0].epochs_here, 0);
  EXPECT_EQ(after.clients[0].memory[1], kGiB);
  EXPECT_EQ(after.clients[1], snapshot.clients[1]);
}

TEST(GuardsTest, TheLongTermGuardIsOffUnlessAsked) {
  // b goes to c, which waited all the time and would wait again.
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 4})
                          .vm({.name = "a", .vcpus = 4})
                          .vm({.name = "b", .vcpus = 3})
                          .vm({.name = "c", .homes = {1}, .vcpus = 2, .weight = 50})
                          .build();
  snapshot.clients[2].owed_on_average = snapshot.clients[2].entitled;
  EXPECT_THAT(planned(snapshot), ElementsAre("load-move b:0->1"));
  Options options;
  options.mig_prevent_lterm_thresh = 1;
  EXPECT_THAT(planned(snapshot, options), Not(Contains("load-move b:0->1")));
  EXPECT_THAT(refused(snapshot, options), Contains("long-term-imbalance b:0->1"));
}

}  // namespace
}  // namespace vmnuma::balancer
