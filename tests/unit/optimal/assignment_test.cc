// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/assignment.h"

#include <gmock/gmock.h>

#include "balancer/optimal/repack.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using tests::kCpu;
using tests::SnapshotBuilder;

/// A clock that stands still: the solver has all the time it was given.
double no_time() {
  return 0;
}

/// With the gap closed.
Optimum optimum_of(const Snapshot& snapshot, const Options& options) {
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  return find_optimum(now, {}, {.seconds = 60, .gap = Permille{0}}, no_time);
}

/// 4 + 2 CPUs are wanted on node 0, which has 4, none on node 1.
SnapshotBuilder crowded() {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 2});
  return builder;
}

TEST(AssignmentTest, FindsHomesThatLoseNothing) {
  const Optimum optimum = optimum_of(crowded().build(), {});
  EXPECT_EQ(optimum.best.lost, CpuTime{});
  EXPECT_THAT(optimum.best.homes, AnyOf(ElementsAre(0, 1), ElementsAre(1, 0)));
  ASSERT_TRUE(optimum.bound);
  // One must move, 1 GiB and the fixed cost over 30 epochs; the bound knows that too.
  EXPECT_GT(optimum.best.moving, CpuTime{});
  EXPECT_NEAR(static_cast<double>(optimum.bound->value),
              static_cast<double>(optimum.best.cost.value), 10);
}

TEST(AssignmentTest, FindsWhatNoSingleMoveOrSwapReaches) {
  // 3 + 3 against 2 + 2 + 2 on two nodes of 6 fits; it starts as 3 + 2 + 2 against 3 + 2.
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 6});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 3});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 3});
  for (const char* name : {"c", "d", "e"}) {
    builder.vm({.name = name, .homes = {name[0] == 'e' ? 1U : 0U}, .vcpus = 2});
  }
  const Optimum optimum = optimum_of(builder.build(), {});
  EXPECT_EQ(optimum.best.lost, CpuTime{});
}

TEST(AssignmentTest, KeepsEveryClientWhereMovingDoesNotPay) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .memory_gib = {40}});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 1, .busy_pct = 1});
  const Snapshot snapshot = builder.build();
  Options dear;
  dear.move_cost_fixed = 10'000'000;
  EXPECT_THAT(optimum_of(snapshot, dear).best.homes, ElementsAre(0, 0));
  Options free;
  free.move_cost_fixed = 0;
  free.move_cost_per_mib = 0;
  free.locality_weight_mem = 0;
  EXPECT_EQ(optimum_of(snapshot, free).best.lost, CpuTime{});
}

TEST(AssignmentTest, WithoutClientsThereIsNothingToChoose) {
  const Snapshot nobody = tests::SnapshotBuilder().nodes(2, {.cores = 4}).build();
  const Options options;
  const Arrangement now(nobody, options, Arrangement::Basis::kDemand);
  const Optimum optimum = find_optimum(now, {}, {}, [] { return 0.0; });
  EXPECT_EQ(optimum.bound, CpuTime{});
  EXPECT_EQ(optimum.trouble, "");
  EXPECT_TRUE(optimum.best.homes.empty());
}

TEST(AssignmentTest, KeepsToMasks) {
  SnapshotBuilder builder;
  builder.nodes(3, {.cores = 4});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .allowed = {0, 2}});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 2, .allowed = {0}});
  EXPECT_THAT(optimum_of(builder.build(), {}).best.homes, ElementsAre(2, 0));
}

TEST(AssignmentTest, LeavesThoseAloneThatTheGuardsHold) {
  VmPolicy forbidden;
  forbidden.do_not_move = true;
  for (const tests::VmSpec& held : {tests::VmSpec{.name = "b", .vcpus = 2, .policy = forbidden},
                                    tests::VmSpec{.name = "b", .vcpus = 2, .fresh = false},
                                    tests::VmSpec{.name = "b", .vcpus = 2, .moving = true}}) {
    SnapshotBuilder builder;
    builder.nodes(2, {.cores = 4});
    builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .memory_gib = {30}});
    builder.vm(held);
    EXPECT_THAT(optimum_of(builder.build(), {}).best.homes, ElementsAre(1, 0));
  }
}

TEST(AssignmentTest, DoesNotWaitForClientsThatJustMoved) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 4});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .memory_gib = {30}});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 2, .epochs_here = 1, .came_from = 1});
  EXPECT_THAT(optimum_of(builder.build(), {}).best.homes, ElementsAre(0, 1));
}

TEST(AssignmentTest, GoesToNoNodeWithoutReadings) {
  SnapshotBuilder builder;
  builder.node({.cores = 4}).node({.cores = 4, .known = false});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 2});
  EXPECT_THAT(optimum_of(builder.build(), {}).best.homes, ElementsAre(0, 0));
}

TEST(AssignmentTest, GoesNowhereWithoutRoomForTheMemory) {
  // Both have 10 GiB; node 1 has 8, less the reserve.
  SnapshotBuilder builder;
  builder.node({.cores = 4, .memory_gib = 64}).node({.cores = 4, .memory_gib = 8});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .memory_gib = {10}});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 2, .memory_gib = {10}});
  EXPECT_THAT(optimum_of(builder.build(), {}).best.homes, ElementsAre(0, 0));
}

TEST(AssignmentTest, CountsTheRoomThatOthersLeave) {
  // Node 1 is full of c, which wants nothing; b can go there only if c comes to node 0.
  SnapshotBuilder builder;
  builder.node({.cores = 4, .memory_gib = 64}).node({.cores = 4, .memory_gib = 12});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .memory_gib = {10}});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 4, .memory_gib = {10}});
  builder.vm({.name = "c", .homes = {1}, .vcpus = 1, .busy_pct = 0, .memory_gib = {0, 10}});
  const Optimum optimum = optimum_of(builder.build(), {});
  EXPECT_EQ(optimum.best.lost, CpuTime{});
  EXPECT_THAT(optimum.best.homes, AnyOf(ElementsAre(0, 1, 0), ElementsAre(1, 0, 0)));
}

TEST(AssignmentTest, HugePagesNeedRoomInTheirPool) {
  Snapshot snapshot = crowded().build();
  // Both have 1 GiB of 2 MiB pages; node 1 has half a GiB of them.
  for (VmState& vm : snapshot.vms) {
    vm.huge_page_size = kMiB * 2;
  }
  snapshot.topology.nodes[0].huge_pages = {{kMiB * 2, 1024}};
  snapshot.topology.nodes[1].huge_pages = {{kMiB * 2, 256}};
  EXPECT_THAT(optimum_of(snapshot, {}).best.homes, ElementsAre(0, 0));
  snapshot.topology.nodes[1].huge_pages[0].pages = 512;
  EXPECT_EQ(optimum_of(snapshot, {}).best.lost, CpuTime{});
  // However little ordinary memory there is.
  snapshot.nodes[1].free = Bytes{};
  EXPECT_EQ(optimum_of(snapshot, {}).best.lost, CpuTime{});
}

TEST(AssignmentTest, KeepsHardAntiAffinityGroupsApart) {
  VmPolicy apart;
  apart.anti_affinity_group = "db";
  apart.anti_affinity_hard = true;
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 4, .policy = apart});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 4, .policy = apart});
  // Alone it would be best for c to have node 1 for itself.
  builder.vm({.name = "c", .homes = {1}, .vcpus = 8});
  const Optimum optimum = optimum_of(builder.build(), {});
  EXPECT_NE(optimum.best.homes[0], optimum.best.homes[1]);
}

TEST(AssignmentTest, MendsAHardGroupAndBreaksItNoFurther) {
  VmPolicy apart;
  apart.anti_affinity_group = "db";
  apart.anti_affinity_hard = true;
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2, .policy = apart});
  builder.vm({.name = "b", .homes = {0}, .vcpus = 2, .policy = apart});
  const Optimum mended = optimum_of(builder.build(), {});
  EXPECT_NE(mended.best.homes[0], mended.best.homes[1]);
  // Three on two nodes cannot all be apart; the third joins none.
  builder.vm({.name = "c", .homes = {1}, .vcpus = 2, .policy = apart});
  EXPECT_THAT(optimum_of(builder.build(), {}).best.homes, ElementsAre(0, 0, 1));
}

TEST(AssignmentTest, WeighsSoftGroups) {
  VmPolicy together;
  together.affinity_group = "web";
  VmPolicy apart;
  apart.anti_affinity_group = "db";
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2, .policy = together});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 2, .policy = together});
  builder.vm({.name = "c", .homes = {0}, .vcpus = 2, .policy = apart});
  builder.vm({.name = "d", .homes = {0}, .vcpus = 2, .policy = apart});
  const Optimum optimum = optimum_of(builder.build(), {});
  EXPECT_EQ(optimum.best.lost, CpuTime{});
  EXPECT_EQ(optimum.best.homes[0], optimum.best.homes[1]);
  EXPECT_NE(optimum.best.homes[2], optimum.best.homes[3]);
  Options none;
  none.affinity_weight = 0;
  none.anti_affinity_weight = 0;
  EXPECT_THAT(optimum_of(builder.build(), none).best.homes, ElementsAre(0, 1, 0, 0));
}

TEST(AssignmentTest, WeighsTalk) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8});
  builder.vm({.name = "a", .homes = {0}, .vcpus = 2});
  builder.vm({.name = "b", .homes = {1}, .vcpus = 2});
  builder.vm({.name = "c", .homes = {kNoNode}, .vcpus = 2});
  builder.chat("a", "b", 100'000).chat("a", "c", 100'000);
  EXPECT_THAT(optimum_of(builder.build(), {}).best.homes, ElementsAre(0, 1, kNoNode));
  Options options;
  options.locality_weight_action_affinity = 100;
  const Optimum optimum = optimum_of(builder.build(), options);
  EXPECT_EQ(optimum.best.homes[0], optimum.best.homes[1]);
  EXPECT_EQ(optimum.best.lost, CpuTime{});
}

TEST(AssignmentTest, LeavesClientsWithoutAHomeToThePlanner) {
  SnapshotBuilder builder = crowded();
  builder.vm({.name = "c", .homes = {kNoNode}, .vcpus = 1, .memory_gib = {0, 0}});
  const Optimum optimum = optimum_of(builder.build(), {});
  EXPECT_EQ(optimum.best.homes[2], kNoNode);
  EXPECT_EQ(optimum.best.lost, CpuTime{});
}

TEST(AssignmentTest, IsTheBetterStartWhereThereIsNoTime) {
  const Snapshot snapshot = crowded().build();
  const Options options;
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  const Homes rest = steady_state_homes(snapshot, options, {});
  const Optimum optimum = find_optimum(now, rest, {.seconds = 0}, no_time);
  EXPECT_FALSE(optimum.bound);
  EXPECT_EQ(optimum.best.homes, rest);
  EXPECT_EQ(optimum.best.lost, CpuTime{});
}

TEST(AssignmentTest, HasNothingToSayOfAnEmptyHost) {
  SnapshotBuilder builder;
  builder.nodes(2, {});
  const Optimum optimum = optimum_of(builder.build(), {});
  EXPECT_TRUE(optimum.best.homes.empty());
  EXPECT_EQ(optimum.best.cost, CpuTime{});
}

}  // namespace
}  // namespace vmnuma::balancer
