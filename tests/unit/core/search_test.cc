// SPDX-License-Identifier: Apache-2.0
/// What the planner finds, and the guard it names where it may not: one situation each.
#include "balancer/core/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/after_plan.h"
#include "balancer/core/due.h"
#include "balancer/core/guards.h"
#include "balancer/core/planner.h"
#include "balancer/core/validator.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using tests::actions_of;
using tests::kCpu;
using tests::rejections_of;
using tests::SnapshotBuilder;
using tests::VmSpec;

std::vector<std::string> planned_with_walls(const Snapshot& snapshot,
                                            const Options& options = tests::walls()) {
  return actions_of(snapshot, make_plan(snapshot, options, {}));
}
std::vector<std::string> refused(const Snapshot& snapshot,
                                 const Options& options = tests::walls()) {
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

TEST(PlannerTest, MovesOneOfTwoThatShareANodeToTheEmptyOne) {
  EXPECT_THAT(planned_with_walls(crowded({}).build()), ElementsAre("load-move a:0->1"));
}

TEST(PlannerTest, AVmWhoseMemoryCannotFollowGetsAHomeBeforeBusierOnesTakeThatNode) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4});
  builder.vm({.name = "busy", .homes = {kNoNode}, .vcpus = 4, .memory_gib = {1, 0}});
  builder.vm({.name = "held",
              .homes = {kNoNode},
              .vcpus = 4,
              .busy_pct = 60,
              .memory_gib = {1, 0},
              .memory_stays_because = "it is locked"});
  EXPECT_THAT(planned_with_walls(builder.build()),
              ElementsAre("initial-placement held:-->0", "initial-placement busy:-->1"));
}

/// A VM on node 0 of 2, whose devices are on node 1, where `others` vCPUs are busy.
Snapshot away_from_its_devices(TopologyPolicy policy, std::int32_t others) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8})
      .vm({.name = "a", .vcpus = 4, .busy_pct = 50, .policy = VmPolicy{.topology_policy = policy}});
  if (others > 0) {
    builder.vm(
        {.name = "b", .homes = {1}, .vcpus = others, .policy = VmPolicy{.do_not_move = true}});
  }
  Snapshot snapshot = builder.build();
  snapshot.vms.front().device_nodes = {1};
  return snapshot;
}

TEST(PlannerTest, ABestEffortVmMovesToItsDevicesOnceThatLosesNoTime) {
  const Snapshot away = away_from_its_devices(TopologyPolicy::kBestEffort, 0);
  EXPECT_THAT(planned_with_walls(away), ElementsAre("affinity-move a:0->1"));
  EXPECT_THAT(violations_of(make_plan(away, tests::walls(), {}), away, tests::walls(), {}),
              IsEmpty());
  EXPECT_THAT(planned_with_walls(after_plan(away, make_plan(away, tests::walls(), {}))), IsEmpty());
  EXPECT_THAT(planned_with_walls(away_from_its_devices(TopologyPolicy::kNone, 0)), IsEmpty());
  EXPECT_THAT(planned_with_walls(away_from_its_devices(TopologyPolicy::kBestEffort, 8)), IsEmpty());
}

/// What all clients are expected to want, of their vCPUs' full time.
Snapshot expecting(Snapshot snapshot, std::int64_t mean_permille, std::int64_t p95_permille) {
  for (ClientState& client : snapshot.clients) {
    const CpuTime full = snapshot.epoch_length * client.vcpu_count();
    client.ahead = {full * mean_permille / 1000, full * p95_permille / 1000};
  }
  return snapshot;
}

TEST(PlannerTest, AMoveThatIsNotExpectedToPayForLongIsNotMade) {
  // Its 20 GiB take minutes; what the two want together is expected to fit one node.
  const Snapshot now = crowded({.memory_gib = {20, 0}}).build();
  EXPECT_THAT(planned_with_walls(now), ElementsAre("load-move a:0->1"));
  const Snapshot soon_over = expecting(now, 250, 1000);
  EXPECT_THAT(planned_with_walls(soon_over), IsEmpty());
  const Options options = tests::walls();
  const Arrangement arrangement(soon_over, options, Arrangement::Basis::kDemand);
  const std::vector<Candidate> moves = all_moves_of(arrangement, 0);
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves[0].stopped_by, Guard::kDoesNotLast);
}

TEST(PlannerTest, AMoveThatIsExpectedToPayForTenMinutesMayCostMoreThanTheHorizonBrings) {
  Options options = tests::walls();
  options.move_cost_fixed = 300'000'000;  // 240 s are saved within the horizon
  const Snapshot now = crowded({}).build();
  EXPECT_THAT(planned_with_walls(now, options), IsEmpty());
  EXPECT_THAT(planned_with_walls(expecting(now, 1000, 1000), options),
              ElementsAre("load-move a:0->1"));
}

TEST(PlannerTest, AClientThatIsExpectedToBeShortIsMovedWhileItHardlyRuns) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4});
  builder.vm({.name = "a", .vcpus = 4, .busy_pct = 10});
  builder.vm({.name = "b", .vcpus = 4, .busy_pct = 10, .policy = VmPolicy{.do_not_move = true}});
  const Snapshot idle = builder.build();
  EXPECT_THAT(planned_with_walls(idle), IsEmpty());
  EXPECT_THAT(planned_with_walls(expecting(idle, 100, 200)), IsEmpty());
  const Snapshot before_work = expecting(idle, 100, 900);
  EXPECT_THAT(planned_with_walls(before_work), ElementsAre("forecast-move a:0->1"));
  const Plan plan = make_plan(before_work, tests::walls(), {});
  EXPECT_THAT(violations_of(plan, before_work, tests::walls(), {}), IsEmpty());
}

/// Four nodes: what is wanted on node 0 is twice as much as it has and must stay there, the others
/// have nothing to do with it.
SnapshotBuilder short_for_ever() {
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 4});
  for (const char* name : {"x", "y"}) {
    builder.vm({.name = name, .vcpus = 4, .policy = VmPolicy{.do_not_move = true}});
  }
  return builder;
}

TEST(PlannerTest, AShortageThatNoMoveCanMendKeepsNoVmFromItsMemory) {
  SnapshotBuilder builder = short_for_ever();
  builder.vm({.name = "a", .homes = {1}, .busy_pct = 50, .memory_gib = {0, 0, 4, 0}});
  EXPECT_THAT(planned_with_walls(builder.build()), ElementsAre("locality-move a:1->2"));
}

TEST(PlannerTest, AShortageThatNoMoveCanMendStopsNoForecastMove) {
  SnapshotBuilder builder = short_for_ever();
  builder.vm({.name = "a", .homes = {1}, .vcpus = 4, .busy_pct = 10});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 4, .busy_pct = 10});
  const Snapshot snapshot = expecting(builder.build(), 100, 900);
  const std::vector<std::string> planned = planned_with_walls(snapshot);
  ASSERT_THAT(planned, SizeIs(1));
  EXPECT_THAT(planned.front(), StartsWith("forecast-move a:1->"));
}

TEST(PlannerTest, NamesWhatStopsTheOnlyMove) {
  Options options = tests::walls();
  options.move_cost_fixed = 1'000'000'000;
  EXPECT_THAT(planned_with_walls(crowded({}).build(), options), IsEmpty());
  EXPECT_THAT(planned_with_walls(crowded({.moving = true}).build()), IsEmpty());
  EXPECT_THAT(planned_with_walls(crowded({.fresh = false}).build()), IsEmpty());
  EXPECT_THAT(planned_with_walls(crowded({.measured = false}).build()), IsEmpty());
  EXPECT_THAT(planned_with_walls(crowded({.epochs_here = 4}).build()), IsEmpty());
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
  Options options = tests::walls();
  options.rebalance_cores_total = 9;
  EXPECT_THAT(refused(snapshot, options), ElementsAre("disabled a:0->1"));
}

TEST(PlannerTest, NodesOfOneCoreAreBalancedUnlessAnOptionForbidsIt) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 1}).vm({.name = "a"});
  builder.vm({.name = "b", .policy = VmPolicy{.do_not_move = true}});
  EXPECT_THAT(planned_with_walls(builder.build()), ElementsAre("load-move a:0->1"));
  Options as_esxi = tests::walls();
  as_esxi.rebalance_cores_node = 2;
  EXPECT_THAT(planned_with_walls(builder.build(), as_esxi), IsEmpty());
}

TEST(PlannerTest, LimitsHowManyMovesBeginAtOnce) {
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 4});
  for (const char* name : {"a", "b", "c", "d"}) {
    builder.vm({.name = name, .vcpus = 4});
  }
  Options options = tests::walls();
  options.migrations_per_epoch = 2;
  const Snapshot snapshot = builder.build();
  EXPECT_EQ(planned_with_walls(snapshot, options).size(), 2U);
  EXPECT_THAT(refused(snapshot, options), Contains(StartsWith("action-limit ")));
}

TEST(PlannerTest, AsManyMovesBeginAtOnceAsThereAreNodesAndFourOnSmallHosts) {
  for (const int nodes : {2, 16}) {
    SnapshotBuilder builder;
    builder.nodes(nodes, {.cores = 8}).nodes(1, {.cores = 8, .memory_gib = 0});
    // 24 more than node 0 has CPUs for.
    for (int i = 0; i < 32; ++i) {
      builder.vm({.name = "vm" + std::to_string(i)});
    }
    Options options;
    options.spill_enable = 0;
    EXPECT_THAT(planned_with_walls(builder.build(), options), SizeIs(nodes == 2 ? 4 : 16));
  }
}

TEST(PlannerTest, NamesTheMoveThatWaitsForAnEpochThatIsDue) {
  Snapshot snapshot = crowded({}).build();
  EXPECT_THAT(refused(snapshot), Not(Contains(StartsWith("not-due"))));
  snapshot.epoch = 31;
  EXPECT_THAT(planned_with_walls(snapshot), IsEmpty());
  EXPECT_THAT(refused(snapshot), ElementsAre("not-due a:0->1"));
}

TEST(PlannerTest, ALoadThatIsThereBetweenTheEpochsThatAreDueOnlyIsBalancedThen) {
  const Snapshot to_move = crowded({}).build();
  const Snapshot to_swap = SnapshotBuilder()
                               .nodes(2, {.cores = 8})
                               .vm({.name = "a", .homes = {0}, .vcpus = 6})
                               .vm({.name = "b", .homes = {0}, .vcpus = 5})
                               .vm({.name = "c", .homes = {1}, .vcpus = 3})
                               .vm({.name = "d", .homes = {1}, .vcpus = 2})
                               .build();
  Options options = tests::walls();
  options.mig_thrash_threshold = 0;
  // Neither moves nor swaps are due in epoch 31; both were in the one before.
  const auto planned = [&options](Snapshot snapshot, const std::vector<bool>& owed_before) {
    snapshot.epoch = 31;
    for (ClientState& client : snapshot.clients) {
      for (const bool as_now : owed_before) {
        client.owed_before.push_back(as_now ? client.owed : CpuTime{});
      }
    }
    const Plan plan = make_plan(snapshot, options, {});
    EXPECT_THAT(violations_of(plan, snapshot, options, {}), IsEmpty());
    return plan.actions.size();
  };
  for (const Snapshot& snapshot : {to_move, to_swap}) {
    EXPECT_EQ(planned(snapshot, {false, true, false, true}), 1U);
    EXPECT_EQ(planned(snapshot, {false, false, false, true}), 1U);
    EXPECT_EQ(planned(snapshot, {false, false, false, false}), 0U) << "it has just begun";
    EXPECT_EQ(planned(snapshot, {true, true, true, true}), 0U)
        << "it was there when moves were due";
    EXPECT_EQ(planned(snapshot, {false}), 0U) << "nothing is remembered of before";
    EXPECT_EQ(planned(snapshot, {}), 0U);
  }
}

/// Two nodes of 20 CPUs, of which the first is short of so much of one, with room on the other.
Snapshot slightly_short(std::int64_t percent_of_a_cpu) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 20});
  for (int i = 0; i < 10; ++i) {
    builder.vm({.name = "wide" + std::to_string(i), .vcpus = 2});
  }
  builder.vm({.name = "a", .busy_pct = percent_of_a_cpu});
  return builder.build();
}

/// The same, and it has been so for minutes.
Snapshot slightly_short_for_long(std::int64_t percent_of_a_cpu) {
  Snapshot snapshot = slightly_short(percent_of_a_cpu);
  for (ClientState& client : snapshot.clients) {
    client.owed_on_average = client.owed;
  }
  return snapshot;
}

TEST(PlannerTest, ASmallImbalanceStartsAMoveOnceItHasLastedForMinutes) {
  // 1 CPU of 20 is 5 %, between Numa.MigImbalanceThreshold and a third of it; 60 % of one is 3 %.
  const Options options{.spill_enable = 0};
  EXPECT_THAT(planned_with_walls(slightly_short_for_long(100), options), SizeIs(1));
  EXPECT_THAT(planned_with_walls(slightly_short(100), options), IsEmpty());
  EXPECT_THAT(planned_with_walls(slightly_short_for_long(60), options), IsEmpty());
  // Where what has lasted does not count, as with ESXi's rules.
  EXPECT_THAT(planned_with_walls(slightly_short_for_long(100)), IsEmpty());
}

TEST(PlannerTest, AMoveForASmallImbalanceKeepsTheRulesOnlyIfThatHasLasted) {
  const Options options{.spill_enable = 0};
  const Plan plan = make_plan(slightly_short_for_long(100), options, {});
  EXPECT_THAT(violations_of(plan, slightly_short_for_long(100), options, {}), IsEmpty());
  EXPECT_THAT(violations_of(plan, slightly_short(100), options, {}),
              Contains(testing::HasSubstr("below Numa.MigImbalanceThreshold")));
}

/// Two nodes on which other work leaves almost nothing: what VMs are owed there is thousands of
/// times what the nodes can give. One VM for each of these entitlements, in milliseconds.
Snapshot almost_used_up(const std::vector<std::int64_t>& on_first,
                        const std::vector<std::int64_t>& on_second) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4});
  for (const auto& [node, entitled] : {std::pair{0U, &on_first}, std::pair{1U, &on_second}}) {
    for (std::size_t i = 0; i < entitled->size(); ++i) {
      builder.vm({.name = "vm", .homes = {node}, .vcpus = 4});
    }
  }
  Snapshot snapshot = builder.build();
  for (NodeState& node : snapshot.nodes) {
    node.non_vm = node.threads - CpuTime{1000};
  }
  for (ClientIndex i = 0; i < snapshot.clients.size(); ++i) {
    const std::int64_t ms = i < on_first.size() ? on_first[i] : on_second[i - on_first.size()];
    snapshot.clients[i].entitled = CpuTime{ms * 1000};
  }
  return snapshot;
}

TEST(PlannerTest, WhatAllNodesHaveOwedForMinutesIsNoImbalance) {
  Snapshot snapshot = almost_used_up({8000}, {8000});
  snapshot.clients[1].entitled -= CpuTime{50};  // 5 % of what the node can give
  for (ClientState& client : snapshot.clients) {
    client.owed_on_average = kCpu * 3;
  }
  const Options options;
  EXPECT_FALSE(is_imbalanced({snapshot, options, Arrangement::Basis::kDemand}));
  snapshot.clients[1].owed_on_average = {};
  EXPECT_TRUE(is_imbalanced({snapshot, options, Arrangement::Basis::kDemand}));
}

TEST(GuardsTest, MovesTogetherMayEvenOutNodesThatAllOweMuch) {
  const Snapshot snapshot = almost_used_up({8000, 4000}, {2000, 6000});
  const Options options = tests::walls();
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  const Effect effect{.gain = kCpu, .owed = kCpu, .in_all = kCpu};
  const auto guard_of = [&](const std::vector<Rehoming>& changes) {
    return effect_guard(arrangement, Reason::kLoadMove, changes, effect);
  };
  EXPECT_EQ(guard_of({{0, 1}, {3, 0}}), std::nullopt);  // both then owe the same
  EXPECT_EQ(guard_of({{0, 1}, {2, 0}}), Guard::kResidualImbalance);
}

TEST(PlannerTest, TheNodeThatCountsForTheLeastGainIsAsLargeAsTheOptionSays) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 100, .memory_gib = 1024});
  for (int i = 0; i < 120; ++i) {
    builder.vm({.name = "a" + std::to_string(i)});
  }
  const Snapshot snapshot = builder.build();
  // 2 % of 100 CPUs are 2, which a VM of one vCPU never gains; of 25 they are half of one.
  Options counted = tests::walls();
  counted.mig_threshold_cpus = 25;
  EXPECT_THAT(planned_with_walls(snapshot, counted), SizeIs(kFewestMoves));
  const Plan plan = make_plan(snapshot, counted, {});
  EXPECT_THAT(violations_of(plan, snapshot, counted, {}), IsEmpty());
  // ESXi's rules count the whole node.
  EXPECT_THAT(planned_with_walls(snapshot), IsEmpty());
  EXPECT_THAT(violations_of(plan, snapshot, tests::walls(), {}),
              Contains(testing::HasSubstr("Numa.MigThreshold")));
  // 5 % of 25 are more than one.
  counted.mig_threshold = 5;
  EXPECT_THAT(planned_with_walls(snapshot, counted), IsEmpty());
}

TEST(PlannerTest, WaitsForTheEpochInWhichMovesAreDue) {
  EXPECT_THAT(planned_with_walls(crowded({}).epoch(31).build()), IsEmpty());
  Options options = tests::walls();
  options.swap_migrate_only = 0;
  EXPECT_THAT(planned_with_walls(crowded({}).build(), options),
              Not(Contains(StartsWith("load-move a:0->1"))));
}

TEST(PlannerTest, WithoutMovesThereAreNoneTogetherEither) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 8})
                                .vm({.name = "a", .homes = {0}, .vcpus = 4})
                                .vm({.name = "b", .homes = {0}, .vcpus = 4})
                                .vm({.name = "c", .homes = {0}, .vcpus = 4})
                                .vm({.name = "d", .homes = {0}, .vcpus = 4})
                                .build();
  Options options = tests::walls();
  EXPECT_THAT(planned_with_walls(snapshot, options), SizeIs(2));
  options.swap_migrate_only = 0;
  EXPECT_THAT(planned_with_walls(snapshot, options), IsEmpty());
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
  Options options = tests::walls();
  options.mig_thrash_threshold = 0;
  const Plan plan = make_plan(build(100), options, {});
  ASSERT_EQ(plan.actions.size(), 1U);
  EXPECT_EQ(plan.actions[0].relocations.size(), 2U);
  EXPECT_EQ(plan.actions[0].predicted.lost_after, CpuTime{});
  options.swap_load_enable = 0;
  EXPECT_THAT(planned_with_walls(build(100), options), IsEmpty());
}

TEST(PlannerTest, AGroupDoesNotCrowdANode) {
  // Idle VMs of a group, of which three are on node 0 with its four CPUs.
  const auto idle_group = [](std::int32_t vcpus) {
    SnapshotBuilder builder;
    builder.nodes(4, {.cores = 4});
    for (const auto& [name, home] : {std::pair{"a", 1U}, {"b", 0U}, {"c", 0U}, {"d", 0U}}) {
      builder.vm({.name = name,
                  .homes = {home},
                  .vcpus = vcpus,
                  .busy_pct = 0,
                  .policy = {.affinity_group = "g"}});
    }
    return builder.build();
  };
  EXPECT_THAT(planned_with_walls(idle_group(1)), ElementsAre("affinity-move a:1->0"));
  EXPECT_THAT(planned_with_walls(idle_group(2)), IsEmpty());
  EXPECT_THAT(refused(idle_group(2)), Contains("core-capacity a:1->0"));
}

TEST(PlannerTest, AGroupComesTogetherWhereAllNodesAreAsCrowded) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4});
  for (const auto& [name, home] : {std::pair{"a", 0U}, {"b", 1U}}) {
    builder.vm({.name = name,
                .homes = {home},
                .vcpus = 2,
                .busy_pct = 0,
                .policy = {.affinity_group = "g"}});
  }
  for (const auto& [name, home] : {std::pair{"c", 0U}, {"d", 1U}}) {
    builder.vm({.name = name,
                .homes = {home},
                .vcpus = 16,
                .busy_pct = 0,
                .policy = {.do_not_move = true}});
  }
  EXPECT_THAT(planned_with_walls(builder.build()), ElementsAre("affinity-move a:0->1"));
}

TEST(PlannerTest, BringsGroupsTogetherAndApart) {
  const auto two = [](std::vector<NodeIndex> homes, const VmPolicy& policy) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 8})
        .vm({.name = "a", .homes = {homes[0]}, .vcpus = 2, .policy = policy})
        .vm({.name = "b", .homes = {homes[1]}, .vcpus = 2, .policy = policy})
        .build();
  };
  EXPECT_THAT(planned_with_walls(two({0, 1}, {.affinity_group = "g"})),
              ElementsAre("affinity-move a:0->1"));
  EXPECT_THAT(planned_with_walls(two({0, 0}, {.anti_affinity_group = "g"})),
              ElementsAre("affinity-move a:0->1"));
  EXPECT_THAT(planned_with_walls(two({0, 0}, {.affinity_group = "g"})), IsEmpty());
}

// ---- VMs that talk to each other

Options with_talk() {
  Options options = tests::walls();
  options.locality_weight_action_affinity = 100;
  return options;
}

/// Two VMs of 4 CPUs, half busy, on a node of 8 each, that wake each other so often; others use as
/// many CPUs of each node as told. Only `a` may move.
Snapshot two_talkers(std::int64_t per_second, std::int32_t others = 1) {
  const VmPolicy stays{.do_not_move = true};
  return SnapshotBuilder()
      .nodes(2, {.cores = 8})
      .vm({.name = "a", .homes = {0}, .vcpus = 4, .busy_pct = 50})
      .vm({.name = "b", .homes = {1}, .vcpus = 4, .busy_pct = 50, .policy = stays})
      .vm({.name = "c", .homes = {0}, .vcpus = others, .policy = stays})
      .vm({.name = "d", .homes = {1}, .vcpus = others, .policy = stays})
      .chat("a", "b", per_second)
      .build();
}

TEST(PlannerTest, BringsTalkersTogetherIfItIsToldWhatWakeUpsCost) {
  EXPECT_THAT(planned_with_walls(two_talkers(100'000), with_talk()),
              ElementsAre("affinity-move a:0->1"));
  EXPECT_THAT(planned_with_walls(two_talkers(100'000)), IsEmpty());
}

TEST(PlannerTest, TalkBelowTheThresholdOfItsVcpusIsNotWorthAMove) {
  // Numa.MigThreshold is 2 % of 4 vCPUs: 80 ms a second, or 80000 wake-ups of 1 us.
  EXPECT_THAT(planned_with_walls(two_talkers(79'000), with_talk()), IsEmpty());
  EXPECT_THAT(refused(two_talkers(79'000), with_talk()), Contains("minimum-gain a:0->1"));
  EXPECT_THAT(planned_with_walls(two_talkers(81'000), with_talk()),
              ElementsAre("affinity-move a:0->1"));
}

TEST(PlannerTest, TalkIsNoReasonToMakeAnotherVmWait) {
  // Node 1 has 8 CPUs; of these b and d want 7, so with a it would be 9.
  EXPECT_THAT(planned_with_walls(two_talkers(10'000'000, 5), with_talk()), IsEmpty());
  // Nor where no limit keeps it from outweighing owed time.
  Options options = with_talk();
  options.action_affinity_max = 100;
  EXPECT_THAT(planned_with_walls(two_talkers(10'000'000, 5), options), IsEmpty());
  EXPECT_THAT(refused(two_talkers(10'000'000, 5), options), Contains("owed-time a:0->1"));
}

TEST(PlannerTest, TalkFillsNoNodeToTheBrim) {
  // With a it would be 8 of 8 CPUs: no client would be owed anything, and none could do more.
  EXPECT_THAT(planned_with_walls(two_talkers(1'000'000, 4), with_talk()), IsEmpty());
  EXPECT_THAT(refused(two_talkers(1'000'000, 4), with_talk()), Contains("core-capacity a:0->1"));
  Options options = with_talk();
  options.core_cap_ratio_pct = 0;
  EXPECT_THAT(planned_with_walls(two_talkers(1'000'000, 4), options),
              ElementsAre("affinity-move a:0->1"));
}

TEST(PlannerTest, OwedTimeIsNoExcuseToMoveForTheSakeOfTalk) {
  // Node 0 owes 0.4 of 4 CPUs, which is not enough for a load move; a little talk changes nothing.
  const auto busy = [](std::int64_t per_second) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 4})
        .vm({.name = "a", .homes = {0}, .vcpus = 2})
        .vm({.name = "b", .homes = {1}, .vcpus = 1})
        .vm({.name = "c", .homes = {0}, .vcpus = 3, .busy_pct = 78})
        .chat("a", "b", per_second)
        .build();
  };
  EXPECT_THAT(planned_with_walls(busy(1'000), with_talk()), IsEmpty());
  EXPECT_THAT(planned_with_walls(busy(1'000'000), with_talk()),
              ElementsAre("affinity-move a:0->1"));
}

TEST(PlannerTest, TalkersMeetOnTheCalmerNode) {
  const auto pair_beside = [](std::int32_t others, const VmPolicy& policy_of_b) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 8})
        .vm({.name = "a", .homes = {0}, .vcpus = 2})
        .vm({.name = "b", .homes = {1}, .vcpus = 2, .policy = policy_of_b})
        .vm({.name = "c", .homes = {1}, .vcpus = others, .policy = {.do_not_move = true}})
        .chat("a", "b", 1'000'000)
        .build();
  };
  EXPECT_THAT(planned_with_walls(pair_beside(1, {}), with_talk()),
              ElementsAre("affinity-move b:1->0"));
  const Snapshot b_stays = pair_beside(1, {.do_not_move = true});
  EXPECT_THAT(planned_with_walls(b_stays, with_talk()), IsEmpty());
  EXPECT_THAT(refused(b_stays, with_talk()), Contains("busier-node a:0->1"));
}

TEST(PlannerTest, OwedTimeComesBeforeTalk) {
  // Two VMs of 4 CPUs that talk as much as counts share a node of 4.
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 4})
                                .vm({.name = "a", .vcpus = 4})
                                .vm({.name = "b", .vcpus = 4})
                                .chat("a", "b", 10'000'000)
                                .build();
  EXPECT_THAT(planned_with_walls(snapshot, with_talk()), ElementsAre("load-move a:0->1"));
}

TEST(PlannerTest, ACrowdOfTalkersDoesNotPileUp) {
  // Six that all talk to each other; so many are on node 0, and each node has room for four.
  const auto crowd = [](int on_node_0) {
    SnapshotBuilder builder;
    builder.nodes(2, {.cores = 8});
    for (int i = 0; i < 6; ++i) {
      builder.vm({.name = std::string(1, static_cast<char>('a' + i)),
                  .homes = {static_cast<NodeIndex>(i < on_node_0 ? 0 : 1)},
                  .vcpus = 2,
                  .busy_pct = 80});
    }
    for (char a = 'a'; a < 'f'; ++a) {
      for (char b = static_cast<char>(a + 1); b <= 'f'; ++b) {
        builder.chat(std::string(1, a), std::string(1, b), 1'000'000);
      }
    }
    return builder.build();
  };
  // A VM that goes over gains one of the five it talks to, a fifth of the limit of 5 %.
  EXPECT_THAT(planned_with_walls(crowd(3), with_talk()), IsEmpty());
  // The fifth on node 0 would gain three of five, but that node is busier already.
  EXPECT_THAT(planned_with_walls(crowd(4), with_talk()), IsEmpty());
  EXPECT_THAT(refused(crowd(4), with_talk()), Contains("core-capacity e:1->0"));
  Options options = with_talk();
  options.core_cap_ratio_pct = 0;
  EXPECT_THAT(refused(crowd(4), options), Contains("busier-node e:1->0"));
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
  EXPECT_THAT(planned_with_walls(snapshot), Not(Contains("load-move a:0->1")));
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
  EXPECT_THAT(planned_with_walls(build(1)), ElementsAre("locality-move a:0->1"));
  EXPECT_THAT(refused(build(2)), Contains("core-capacity a:0->1"));
  Options options = tests::walls();
  options.locality_weight_mem = 0;
  EXPECT_THAT(planned_with_walls(build(1), options), Not(Contains(StartsWith("locality"))));
}

TEST(PlannerTest, NoVmMovesToMemoryThatAnotherVmIsGuaranteed) {
  // Both VMs of node 0 want its four cores, and node 1 is idle; 60 of its 64 GiB are free, but
  // another VM, whose memory cannot be read, may be guaranteed them.
  for (const MemoryClass kept : {MemoryClass::kBurstable, MemoryClass::kGuaranteed}) {
    VmPolicy policy;
    policy.memory_class = kept;
    Snapshot snapshot =
        SnapshotBuilder()
            .nodes(2, {.cores = 4, .memory_gib = 64})
            .vm({.name = "a", .homes = {0}, .vcpus = 4, .memory_gib = {8}})
            .vm({.name = "b", .homes = {0}, .vcpus = 4, .memory_gib = {8}})
            .vm({.name = "kept", .homes = {1}, .busy_pct = 0, .size_gib = 60, .policy = policy})
            .build();
    snapshot.clients[2].memory_known = false;
    const bool moves = kept == MemoryClass::kBurstable;
    const Options options = options_of(Preset::kEsxi);
    EXPECT_THAT(actions_of(snapshot, make_plan(snapshot, options, {})), SizeIs(moves ? 1 : 0))
        << name_of(kept);
  }
}

TEST(PlannerTest, AGuaranteedVmMovesOnlyWhereAllThatItIsPromisedFits) {
  // 8 GiB of each follow easily; node 1 has 24 free.
  for (const std::int64_t size_gib : {16, 60}) {
    VmPolicy kept;
    kept.memory_class = MemoryClass::kGuaranteed;
    const auto busy = [&](const char* name) {
      return VmSpec{.name = name,
                    .homes = {0},
                    .vcpus = 4,
                    .memory_gib = {8},
                    .size_gib = size_gib,
                    .policy = kept};
    };
    const Snapshot snapshot =
        SnapshotBuilder()
            .nodes(2, {.cores = 4, .memory_gib = 64})
            .vm(busy("a"))
            .vm(busy("b"))
            .vm({.name = "idle", .homes = {1}, .busy_pct = 0, .memory_gib = {0, 40}})
            .build();
    const Options options = options_of(Preset::kEsxi);
    EXPECT_THAT(actions_of(snapshot, make_plan(snapshot, options, {})),
                SizeIs(size_gib == 16 ? 1 : 0))
        << size_gib;
  }
}

TEST(PlannerTest, TwoVmsThatHaveEachOthersMemoryChangePlaces) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 4})
                                .vm({.name = "a", .homes = {0}, .vcpus = 3, .memory_gib = {0, 8}})
                                .vm({.name = "b", .homes = {1}, .vcpus = 3, .memory_gib = {8, 0}})
                                .build();
  EXPECT_THAT(planned_with_walls(snapshot), ElementsAre("locality-swap a:0->1 b:1->0"));
  Options options = tests::walls();
  options.swap_locality_enable = 0;
  EXPECT_THAT(planned_with_walls(snapshot, options), Not(Contains(StartsWith("locality-swap"))));
}

TEST(PlannerTest, PullsWhatIsWorthIt) {
  const auto build = [](std::vector<std::int64_t> memory) {
    return SnapshotBuilder()
        .nodes(2, {.cores = 4})
        .vm({.name = "a", .homes = {0}, .memory_gib = std::move(memory)})
        .build();
  };
  EXPECT_THAT(planned_with_walls(build({6, 2})), ElementsAre("memory-pull a:0"));
  EXPECT_THAT(planned_with_walls(build({55, 1})), IsEmpty());  // less than 2 %
  Options options = tests::walls();
  options.page_mig_enable = 0;
  EXPECT_THAT(planned_with_walls(build({6, 2}), options), IsEmpty());
}

TEST(PlannerTest, PullsAgainOnlyAfterAWhile) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 4})
                          .vm({.name = "a", .homes = {0}, .memory_gib = {6, 2}})
                          .build();
  snapshot.vms[0].epochs_since_transfer = 10;
  snapshot.vms[0].pull_again_after = 30;
  snapshot.vms[0].left_behind = kGiB * 2;
  EXPECT_THAT(planned_with_walls(snapshot), IsEmpty());
  snapshot.vms[0].epochs_since_transfer = 30;
  EXPECT_THAT(planned_with_walls(snapshot), ElementsAre("memory-pull a:0"));
  snapshot.vms[0].epochs_since_transfer = 2;  // not counted yet
  EXPECT_THAT(planned_with_walls(snapshot), IsEmpty());
}

TEST(AfterPlanTest, HomesAndMemoryAreAsPlannedAndUnknownClientsAreLeftOut) {
  const Snapshot snapshot = crowded({}).build();
  Plan plan = make_plan(snapshot, tests::walls(), {});
  Action unknown = plan.actions.front();
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
  EXPECT_THAT(planned_with_walls(snapshot), ElementsAre("load-move b:0->1"));
  Options options = tests::walls();
  options.mig_prevent_lterm_thresh = 1;
  EXPECT_THAT(planned_with_walls(snapshot, options), Not(Contains("load-move b:0->1")));
  EXPECT_THAT(refused(snapshot, options), Contains("long-term-imbalance b:0->1"));
}

}  // namespace
}  // namespace vmnuma::balancer
