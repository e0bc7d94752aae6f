// SPDX-License-Identifier: Apache-2.0
/// Which clients run on a second node, and when that ends: one situation each.
#include "balancer/core/spill.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/core/memory_pulls.h"
#include "balancer/core/planner.h"
#include "balancer/core/validator.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;
using tests::actions_of;
using tests::client_of;
using tests::kCpu;
using tests::next_epoch;
using tests::SnapshotBuilder;
using tests::VmSpec;

/// Two nodes of 4; on node 0 `a`, as told, and two other VMs of 2 busy vCPUs each that are not to
/// be touched. No VM can be moved: node 1 has no room for the memory of any.
Snapshot short_of_cpus(VmSpec a, std::int64_t others_busy_pct = 100) {
  a.name = "a";
  a.vcpus = 2;
  SnapshotBuilder builder;
  builder.node({.cores = 4}).node({.cores = 4, .memory_gib = 1}).vm(a);
  for (const char* name : {"b", "c"}) {
    builder.vm({.name = name,
                .vcpus = 2,
                .busy_pct = others_busy_pct,
                .memory_gib = {4, 0},
                .policy = VmPolicy{.do_not_move = true}});
  }
  return builder.build();
}

std::vector<std::string> planned_spills(const Snapshot& snapshot, const Options& options = {}) {
  const Plan plan = make_plan(snapshot, options, {});
  EXPECT_THAT(violations_of(plan, snapshot, options, {}), IsEmpty());
  return actions_of(snapshot, plan);
}

TEST(SpillTest, AClientThatWaitsWhileCpusOfAnotherNodeIdleRunsThereAsWell) {
  EXPECT_THAT(planned_spills(short_of_cpus({.memory_gib = {4, 0}})), ElementsAre("spill a:0+1"));
}

TEST(SpillTest, NoClientSpillsFromANodeThatIsNotShort) {
  EXPECT_THAT(planned_spills(short_of_cpus({.busy_pct = 40, .memory_gib = {4, 0}}, 70)), IsEmpty());
}

TEST(SpillTest, NoClientSpillsIfRemoteMemoryCostsMoreThanWaiting) {
  // All that it lacks is a tenth of a CPU.
  EXPECT_THAT(planned_spills(short_of_cpus({.busy_pct = 15, .memory_gib = {4, 0}}, 95)), IsEmpty());
}

TEST(SpillTest, RemoteMemoryCountsOnlyForTimeThatAClientIsEntitledTo) {
  // Ten VMs want 20 CPUs on the two of node 0, and two of node 1 are idle: each is entitled to 0.4,
  // would get two on node 1, and would lose more than 0.4 of these to remote memory.
  SnapshotBuilder builder;
  builder.node({.cores = 2})
      .node({.cores = 2, .memory_gib = 0})
      .node({.cores = 1, .memory_gib = 1});
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) {
    builder.vm({.name = name, .vcpus = 2, .memory_gib = {4, 0, 0}});
  }
  EXPECT_THAT(planned_spills(builder.build()), Contains("spill a:0+1"));
}

TEST(SpillTest, ANodeWithoutMemoryHasCpusForClientsThatSpill) {
  const Snapshot snapshot = SnapshotBuilder()
                                .node({.cores = 2})
                                .node({.cores = 2, .memory_gib = 0})
                                .node({.cores = 1, .memory_gib = 1})
                                .vm({.name = "a", .vcpus = 2, .memory_gib = {4, 0, 0}})
                                .vm({.name = "b", .vcpus = 2, .memory_gib = {4, 0, 0}})
                                .build();
  EXPECT_THAT(planned_spills(snapshot), Contains("spill a:0+1"));
}

TEST(SpillTest, ThreeEqualVmsOnTwoNodesShareThemWithoutMoving) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 2})
                                .vm({.name = "a", .vcpus = 2, .memory_gib = {8, 0}})
                                .vm({.name = "b", .vcpus = 2, .memory_gib = {8, 0}})
                                .vm({.name = "c", .homes = {1}, .vcpus = 2, .memory_gib = {0, 8}})
                                .build();
  EXPECT_THAT(planned_spills(snapshot), ElementsAre("spill a:0+1"));
}

TEST(SpillTest, NoClientSpillsToBusyCpusFromANodeThatIsLittleBusier) {
  // CFS would not move a thread: 117 % of the other node's load is the least that it does it for.
  const auto with_others = [](std::int64_t others_pct) {
    return SnapshotBuilder()
        .node({.cores = 4, .others_pct = others_pct})
        .node({.cores = 4})
        .vm({.name = "a", .vcpus = 4, .memory_gib = {4, 0}})
        .vm({.name = "b", .homes = {1}, .vcpus = 4, .memory_gib = {0, 4}})
        .build();
  };
  EXPECT_THAT(planned_spills(with_others(60)), IsEmpty());
  EXPECT_THAT(planned_spills(with_others(240)), ElementsAre("spill a:0+1"));
}

/// Nodes of 4; six busy vCPUs live on node 0, and `b` may go.
Snapshot six_on_four(std::optional<NodeIndex> spills_to) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 4})
                          .vm({.name = "a", .vcpus = 4, .memory_gib = {4, 0}})
                          .vm({.name = "b", .vcpus = 2, .memory_gib = {4, 0}})
                          .build();
  snapshot.clients[client_of(snapshot, "b")].spills_to = spills_to.value_or(kNoNode);
  return snapshot;
}

TEST(SpillTest, LostTimeIsTheHostsWithThoseThatSpillNow) {
  const CpuTime at_home = make_plan(six_on_four({}), {}, {}).lost;
  const CpuTime spilled = make_plan(six_on_four(1), {}, {}).lost;
  EXPECT_EQ(at_home, kCpu * 2);
  // A part of it is lost to remote memory instead.
  EXPECT_GT(spilled, CpuTime{});
  EXPECT_LT(spilled, kCpu);
}

TEST(SpillTest, AMoveIsPredictedToSaveOnlyWhatSpillsDoNotSave) {
  Options options;
  const Snapshot snapshot = six_on_four(1);
  const auto saved = [&] {
    const Plan plan = make_plan(snapshot, options, {});
    EXPECT_THAT(actions_of(snapshot, plan), ElementsAre("load-move b:0->1"));
    const Prediction& predicted = plan.actions.front().predicted;
    EXPECT_EQ(predicted.gain_at_home, kCpu * 2);
    return predicted.lost_before - predicted.lost_after;
  };
  EXPECT_LT(saved(), kCpu);
  EXPECT_GT(saved(), CpuTime{});
  options.spill_enable = 0;
  EXPECT_EQ(saved(), kCpu * 2);
}

TEST(SpillTest, AMoveSavesTwiceItsCostOnTopOfSpills) {
  const Options options;
  // What its moves save in the horizon, in per cent of their cost.
  std::vector<std::int64_t> saves_pct;
  for (std::int64_t busy_pct = 5; busy_pct <= 100; ++busy_pct) {
    const Snapshot snapshot =
        SnapshotBuilder()
            .nodes(2, {.cores = 4, .memory_gib = 400})
            .vm({.name = "a", .vcpus = 4, .memory_gib = {4, 0}})
            .vm({.name = "b", .vcpus = 2, .busy_pct = busy_pct, .memory_gib = {60, 0}})
            .build();
    const Plan plan = make_plan(snapshot, options, {});
    for (const Action& action : plan.actions) {
      const Prediction& predicted = action.predicted;
      if (action.reason == Reason::kLoadMove && predicted.cost > CpuTime{}) {
        const CpuTime saved = predicted.lost_before - predicted.lost_after;
        saves_pct.push_back(saved.value * options.move_horizon * 100 / predicted.cost.value);
      }
    }
  }
  ASSERT_THAT(saves_pct, Not(IsEmpty()));
  EXPECT_THAT(saves_pct, Each(Ge(200)));
  EXPECT_THAT(saves_pct, Contains(Le(215)));
}

TEST(SpillTest, WhatAHostLosesDespiteSpillsDoesNotDependOnThePresentSpills) {
  const Options options;
  for (const auto& with : {six_on_four({}), six_on_four(1)}) {
    const Arrangement now(with, options, Arrangement::Basis::kDemand);
    EXPECT_EQ(now.lost(), kCpu * 2);
    EXPECT_LT(lost_beside_spills(now), kCpu);
    const Rehoming move{client_of(with, "b"), 1};
    EXPECT_EQ(gain_beside_spills(now, {&move, 1}), lost_beside_spills(now));
  }
}

TEST(SpillTest, AVmThatMustNotBeTouchedDoesNotSpill) {
  const auto with = [](VmPolicy policy) {
    return planned_spills(short_of_cpus({.memory_gib = {4, 0}, .policy = std::move(policy)}));
  };
  EXPECT_THAT(with({.do_not_move = true}), IsEmpty());
  EXPECT_THAT(with({.topology_policy = TopologyPolicy::kSingleNumaNode}), IsEmpty());
  EXPECT_THAT(with({.cpu_binding = CpuBinding::kShare}), IsEmpty());
  EXPECT_THAT(planned_spills(short_of_cpus(
                  {.memory_gib = {4, 0}, .allowed = {0}, .policy = {.nodes = {NodeId{0}}}})),
              IsEmpty());
  EXPECT_THAT(planned_spills(short_of_cpus({.memory_gib = {4, 0}, .fresh = false})), IsEmpty());
  EXPECT_THAT(planned_spills(short_of_cpus({.memory_gib = {4, 0}, .moving = true})), IsEmpty());
  EXPECT_THAT(planned_spills(short_of_cpus({.memory_gib = {4, 0}, .epochs_here = 1})), IsEmpty());
}

TEST(SpillTest, ASpillEndsIfItsVmIsNoLongerToBeMoved) {
  Snapshot snapshot =
      short_of_cpus({.memory_gib = {4, 0}, .policy = VmPolicy{.do_not_move = true}});
  snapshot.clients[client_of(snapshot, "a")].spills_to = 1;
  EXPECT_THAT(planned_spills(snapshot), ElementsAre("spill a:0"));
}

TEST(SpillTest, MembersOfAHardGroupDoNotSpillToOneNode) {
  const VmPolicy apart{.anti_affinity_group = "g", .anti_affinity_hard = true};
  const VmPolicy fixed{.do_not_move = true};
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4}).node({.cores = 4, .memory_gib = 1});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2, .memory_gib = {4, 0, 0}, .policy = apart});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 2, .memory_gib = {0, 4, 0}, .policy = apart});
  builder.vm({.name = "c", .homes = {0}, .vcpus = 4, .memory_gib = {4, 0, 0}, .policy = fixed});
  builder.vm({.name = "d", .homes = {1}, .vcpus = 4, .memory_gib = {0, 4, 0}, .policy = fixed});
  Snapshot snapshot = builder.build();
  EXPECT_THAT(planned_spills(snapshot), ElementsAre("spill a:0+2"));
  snapshot.clients[client_of(snapshot, "a")].spills_to = 2;
  snapshot.clients[client_of(snapshot, "a")].spill_saves = kCpu;
  EXPECT_THAT(planned_spills(snapshot), IsEmpty());
}

TEST(SpillTest, MembersOfAHardGroupThatStartTogetherDoNotSpillToOneNode) {
  const VmPolicy apart{.anti_affinity_group = "g", .anti_affinity_hard = true};
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4}).node({.cores = 4, .memory_gib = 1});
  builder.vm({.name = "c", .homes = {0}, .vcpus = 4, .memory_gib = {4, 0, 0}});
  builder.vm({.name = "d", .homes = {1}, .vcpus = 4, .memory_gib = {0, 4, 0}});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2, .memory_gib = {4, 0, 0}, .policy = apart});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 2, .memory_gib = {0, 4, 0}, .policy = apart});
  const Snapshot snapshot = builder.build();
  const Options options;
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  std::vector<Action> placements(2);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    placements[i].reason = Reason::kInitialPlacement;
    placements[i].relocations = {{snapshot.clients[i + 2].id, kNoNode, i, {}}};
  }
  spread_first_homes(now, placements);
  EXPECT_EQ(placements[0].relocations[0].spills_to, 2U);
  EXPECT_EQ(placements[1].relocations[0].spills_to, kNoNode);
}

TEST(SpillTest, AMoveThatDoesNotPayOnTopOfSpillsHidesNoOther) {
  SnapshotBuilder builder;
  builder.nodes(4, {.cores = 4, .memory_gib = 400});
  // A spill gives node 0's VMs nearly all that they lack.
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .memory_gib = {60, 0, 0, 0}});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 2, .memory_gib = {60, 0, 0, 0}});
  // Those of node 2 may not spill.
  const VmPolicy latency{.cpu_class = CpuClass::kLatency};
  for (const char* name : {"p", "q"}) {
    builder.vm({.name = name,
                .homes = {2},
                .vcpus = 3,
                .busy_pct = 75,
                .memory_gib = {0, 0, 1, 0},
                .policy = latency});
  }
  const Snapshot snapshot = builder.build();
  EXPECT_THAT(actions_of(snapshot, make_plan(snapshot, {}, {})),
              Contains(testing::MatchesRegex("load-move [pq]:2->[0-9]")));
}

TEST(SpillTest, AVmUnreadForFiveEpochsRunsOnASecondNodeAsWellIfNoCoreOfItsHomeIdles) {
  const Options options;
  const auto unread_for = [](std::int64_t epochs, std::int64_t others_busy_pct = 50) {
    return short_of_cpus(
        {.busy_pct = 100, .memory_gib = {4, 0}, .fresh = false, .epochs_stale = epochs},
        others_busy_pct);
  };
  EXPECT_THAT(planned_spills(unread_for(5, 40)), IsEmpty());
  EXPECT_THAT(planned_spills(unread_for(4)), IsEmpty());
  EXPECT_THAT(planned_spills(unread_for(5)), ElementsAre("spill a:0+1"));

  Snapshot now = unread_for(5);
  const Plan plan = make_plan(now, options, {});
  EXPECT_THAT(violations_of(plan, now, options, {}), IsEmpty());
  now = next_epoch(now, plan, options);
  ASSERT_EQ(now.clients[client_of(now, "a")].spills_to, 1U);
  now.vms[now.clients[client_of(now, "a")].vm].epochs_stale = 6;
  EXPECT_THAT(make_plan(now, options, {}).actions, IsEmpty()) << "as long as no core idles";
  for (const char* other : {"b", "c"}) {
    now.clients[client_of(now, other)].used = CpuTime{};
    now.clients[client_of(now, other)].demand = CpuTime{};
  }
  const Plan ends = make_plan(now, options, {});
  EXPECT_THAT(ends.actions, SizeIs(1));
  EXPECT_THAT(ends.spills, IsEmpty());
  EXPECT_THAT(violations_of(ends, now, options, {}), IsEmpty());
}

TEST(SpillTest, AVmThatCannotBeReadKeepsASecondNodeThatSavedSomething) {
  const Options options;
  Snapshot now = short_of_cpus({.memory_gib = {4, 0}});
  now = next_epoch(now, make_plan(now, options, {}), options);
  ASSERT_EQ(now.clients[client_of(now, "a")].spills_to, 1U);
  VmState& vm = now.vms[now.clients[client_of(now, "a")].vm];
  vm.fresh = false;
  vm.epochs_stale = 100;
  for (const char* other : {"b", "c"}) {
    now.clients[client_of(now, other)].used = CpuTime{};
    now.clients[client_of(now, other)].demand = CpuTime{};
  }
  EXPECT_THAT(make_plan(now, options, {}).actions, IsEmpty());
  Options walls;
  walls.spill_enable = 0;
  EXPECT_THAT(make_plan(now, walls, {}).actions, IsEmpty());
  Plan ends;
  ends.epoch = now.epoch;
  ends.actions = {{Reason::kSpill, {{{vm.id, 0}, 0, 0, Bytes{}, kNoNode}}, {}}};
  EXPECT_THAT(violations_of(ends, now, options, {}),
              Contains(HasSubstr("has no readings, and loses a second node")));
}

TEST(SpillTest, PagesThatFollowAClientToItsSecondNodeAreNotPulledHome) {
  const auto pulls_with = [](std::vector<std::int64_t> memory_gib, std::int64_t since_transfer) {
    Snapshot snapshot = SnapshotBuilder()
                            .nodes(3, {.cores = 2})
                            .vm({.name = "a", .vcpus = 2, .memory_gib = std::move(memory_gib)})
                            .build();
    snapshot.clients.front().spills_to = 1;
    snapshot.vms.front().epochs_since_transfer = since_transfer;
    const Options options;
    const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
    return memory_pulls(arrangement);
  };
  // It has been at home for 100 epochs.
  EXPECT_THAT(pulls_with({6, 2, 0}, 50), IsEmpty());
  EXPECT_THAT(pulls_with({6, 0, 2}, 50), SizeIs(1));   // no CPU of it runs there
  EXPECT_THAT(pulls_with({6, 2, 0}, 150), SizeIs(1));  // it may never have been at home
}

TEST(SpillTest, AVmWhoseMemoryIsBoundToANodeMayRunOnAnother) {
  EXPECT_THAT(planned_spills(short_of_cpus({.memory_gib = {4, 0}, .allowed = {0}})),
              ElementsAre("spill a:0+1"));
}

TEST(SpillTest, ASpillGoesOnWhileItSavesAndEndsSoonAfter) {
  const Options options;
  Snapshot now = short_of_cpus({.memory_gib = {4, 0}});
  now = next_epoch(now, make_plan(now, options, {}), options);
  ASSERT_EQ(now.clients[client_of(now, "a")].spills_to, 1U);
  for (int epoch = 0; epoch < 5; ++epoch) {
    const Plan plan = make_plan(now, options, {});
    EXPECT_THAT(plan.actions, IsEmpty());
    EXPECT_THAT(plan.spills, SizeIs(1));
    now = next_epoch(now, plan, options);
  }
  // The others want nothing any more.
  for (const char* name : {"b", "c"}) {
    now.clients[client_of(now, name)].demand = CpuTime{};
  }
  int epochs = 0;
  while (now.clients[client_of(now, "a")].spills_to != kNoNode && epochs < 20) {
    tests::run_and_share_out(now, options);
    const Plan plan = make_plan(now, options, {});
    EXPECT_THAT(violations_of(plan, now, options, {}), IsEmpty());
    now = next_epoch(now, plan, options);
    ++epochs;
  }
  EXPECT_GE(epochs, 2);
  EXPECT_LE(epochs, 8);
}

TEST(SpillTest, ASpillOfAClientThatNoLongerRunsEndsOnceItsHomeIsNotCrowded) {
  const Options options;
  Snapshot now = SnapshotBuilder()
                     .node({.cores = 4, .others_pct = 200})
                     .node({.cores = 4, .memory_gib = 1})
                     .vm({.name = "a", .vcpus = 4, .memory_gib = {4, 0}})
                     .build();
  now = next_epoch(now, make_plan(now, options, {}), options);
  ASSERT_EQ(now.clients[0].spills_to, 1U);
  now = next_epoch(now, make_plan(now, options, {}), options);
  ASSERT_EQ(now.clients[0].spills_to, 1U);
  ASSERT_GT(now.clients[0].spill_saves, CpuTime{});
  now.nodes[0].non_vm = CpuTime{};
  int epochs = 0;
  while (now.clients[0].spills_to != kNoNode && epochs < 100) {
    now.clients[0].demand = CpuTime{};
    tests::run_and_share_out(now, options);
    const Plan plan = make_plan(now, options, {});
    EXPECT_THAT(violations_of(plan, now, options, {}), IsEmpty());
    now = next_epoch(now, plan, options);
    ++epochs;
  }
  EXPECT_LE(epochs, 60);
}

TEST(SpillTest, ALoadThatComesEveryOtherEpochKeepsItsSpill) {
  const Options options;
  Snapshot now = short_of_cpus({.memory_gib = {4, 0}});
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (const char* name : {"a", "b", "c"}) {
      now.clients[client_of(now, name)].demand = epoch % 2 == 0 ? kCpu * 2 : CpuTime{};
    }
    tests::run_and_share_out(now, options);
    const Plan plan = make_plan(now, options, {});
    EXPECT_EQ(plan.actions.size(), epoch == 0 ? 1U : 0U) << epoch;
    now = next_epoch(now, plan, options);
  }
}

TEST(SpillTest, AMoveThatPaysIsMadeAndEndsTheSpill) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.cores = 4})
                          .vm({.name = "a", .vcpus = 4})
                          .vm({.name = "b", .vcpus = 4, .policy = VmPolicy{.do_not_move = true}})
                          .build();
  snapshot.clients[client_of(snapshot, "a")].spills_to = 1;
  snapshot.clients[client_of(snapshot, "a")].spill_saves = kCpu;
  const Plan plan = make_plan(snapshot, {}, {});
  EXPECT_THAT(actions_of(snapshot, plan), ElementsAre("load-move a:0->1"));
  EXPECT_THAT(plan.spills, IsEmpty());
}

TEST(SpillTest, AllClientsOfAVmAreInOneAction) {
  const Snapshot snapshot =
      SnapshotBuilder()
          .nodes(2, {.cores = 2})
          .nodes(2, {.cores = 4, .memory_gib = 1})
          .vm({.name = "wide", .homes = {0, 1}, .vcpus = 2})
          .vm({.name = "b", .vcpus = 2, .policy = {.do_not_move = true}})
          .vm({.name = "c", .homes = {1}, .vcpus = 2, .policy = {.do_not_move = true}})
          .build();
  const Options options{.mig_imbalance_threshold = 200};
  EXPECT_THAT(planned_spills(snapshot, options), ElementsAre("spill wide:0+2 wide/1:1+2"));
}

TEST(SpillTest, NoMoreBeginInAnEpochThanMigrations) {
  SnapshotBuilder builder;
  builder.node({.cores = 8}).nodes(7, {.cores = 8, .memory_gib = 1});
  for (int i = 0; i < 16; ++i) {
    builder.vm({.name = "vm" + std::to_string(i), .vcpus = 2, .memory_gib = {4, 0, 0, 0}});
  }
  const Options options{.migrations_per_epoch = 3};
  EXPECT_THAT(planned_spills(builder.build(), options), SizeIs(3));
  EXPECT_THAT(planned_spills(builder.build(), Options{}), SizeIs(kFewestMoves));
}

TEST(SpillTest, WithoutItHomesAreWallsAndSpillsEnd) {
  Options options;
  options.spill_enable = 0;
  Snapshot snapshot = short_of_cpus({.memory_gib = {4, 0}});
  EXPECT_THAT(planned_spills(snapshot, options), IsEmpty());
  snapshot.clients[client_of(snapshot, "a")].spills_to = 1;
  EXPECT_THAT(planned_spills(snapshot, options), ElementsAre("spill a:0"));
}

TEST(SpillTest, WithAnOpenBreakerSpillsStayAsTheyAre) {
  Snapshot snapshot = short_of_cpus({.memory_gib = {4, 0}});
  snapshot.clients[client_of(snapshot, "a")].spills_to = 1;
  EXPECT_THAT(make_plan(snapshot, {}, {.breaker_open = true}).actions, IsEmpty());
}

TEST(SpillTest, TheValidatorNamesWhatIsWrongWithASpill) {
  const Snapshot snapshot = short_of_cpus({.memory_gib = {4, 0}});
  const Plan plan = make_plan(snapshot, {}, {});
  ASSERT_THAT(plan.actions, SizeIs(1));
  const auto wrong = [&](auto change) {
    Plan changed = plan;
    change(changed.actions.front());
    return violations_of(changed, snapshot, {}, {});
  };
  EXPECT_THAT(wrong([](Action& action) { action.relocations.front().spills_to = 0; }),
              Contains(HasSubstr("spills to a node that has no CPUs for it")));
  EXPECT_THAT(wrong([](Action& action) { action.relocations.front().spills_to = kNoNode; }),
              Contains(HasSubstr("does not begin or cease to spill")));
  EXPECT_THAT(wrong([](Action& action) { action.relocations.front().to = 1; }),
              Contains(HasSubstr("does not live where it is taken from")));
  Options walls;
  walls.spill_enable = 0;
  EXPECT_THAT(violations_of(plan, snapshot, walls, {}),
              Contains(HasSubstr("Numa.SpillEnable is 0")));
  Snapshot other = snapshot;
  other.vms[other.clients[client_of(other, "a")].vm].policy.do_not_move = true;
  EXPECT_THAT(violations_of(plan, other, {}, {}), Contains(HasSubstr("is not to be moved")));
}

TEST(SpillTest, TheValidatorKeepsAHardGroupApart) {
  const VmPolicy apart{.anti_affinity_group = "g", .anti_affinity_hard = true};
  Snapshot snapshot = short_of_cpus({.memory_gib = {4, 0}, .policy = apart});
  const Plan plan = make_plan(snapshot, {}, {});
  ASSERT_THAT(plan.spills, SizeIs(1));
  SnapshotBuilder builder;
  builder.node({.cores = 4}).node({.cores = 4, .memory_gib = 1});
  builder.vm({.name = "a", .vcpus = 2, .memory_gib = {4, 0}, .policy = apart});
  builder.vm({.name = "b", .vcpus = 4, .memory_gib = {4, 0}});
  builder.vm({.name = "e", .homes = {1}, .memory_gib = {0, 1}, .policy = apart});
  snapshot = builder.build();
  EXPECT_THAT(make_plan(snapshot, {}, {}).spills,
              Each(Not(Field(&Spill::client, snapshot.clients[0].id))));
  EXPECT_THAT(violations_of(plan, snapshot, {}, {}),
              Contains(HasSubstr("from which its group keeps it apart")));
}

}  // namespace
}  // namespace vmnuma::balancer
