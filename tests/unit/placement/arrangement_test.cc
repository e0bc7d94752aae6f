// SPDX-License-Identifier: Apache-2.0
#include "placement/arrangement.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tests::client_of;
using tests::kCpu;
using tests::SnapshotBuilder;

void expect_near(CpuTime actual, CpuTime expected) {
  EXPECT_NEAR(static_cast<double>(actual.value), static_cast<double>(expected.value), 10);
}

Arrangement arranged(const Snapshot& snapshot) {
  static const Options kDefaults = options_of(Preset::kEsxi);  // 125 MiB/s
  return {snapshot, kDefaults, Arrangement::Basis::kDemand};
}

Effect effect_of_swap(const Arrangement& now, ClientIndex a, ClientIndex b) {
  const std::array changes{Rehoming{a, now.home(b)}, Rehoming{b, now.home(a)}};
  return now.effect_of(changes);
}

// Node 0: a and b want 4 CPUs each of 4. Node 1: c wants 1.
Snapshot uneven() {
  return SnapshotBuilder()
      .nodes(2, {.cores = 4})
      .vm({.name = "a", .homes = {0}, .vcpus = 4})
      .vm({.name = "b", .homes = {0}, .vcpus = 4})
      .vm({.name = "c", .homes = {1}, .vcpus = 1})
      .build();
}

TEST(ArrangementTest, LosesWhatIsOwed) {
  // 9 CPUs wanted, 8 there: c gets its 1, a and b are entitled to 3.5 each and get 2.
  const Snapshot snapshot = uneven();
  const Arrangement now = arranged(snapshot);
  expect_near(now.lost(), kCpu * 3);
  EXPECT_EQ(now.owed_share(0), Permille{750});
  EXPECT_EQ(now.owed_share(1), Permille{0});
  EXPECT_EQ(now.imbalance(), Permille{750});
  EXPECT_THAT(now.residents(0), ElementsAre(0, 1));
}

TEST(ArrangementTest, TellsWhatAMoveWouldBring) {
  // Then a has node 0 for itself; b and c share 4: c's 1 is less than half, b gets 3 of its 3.5.
  const Snapshot snapshot = uneven();
  Arrangement now = arranged(snapshot);
  const Effect effect = now.effect_of(std::array{Rehoming{client_of(snapshot, "b"), 1}});
  expect_near(effect.gain, kCpu * 5 / 2);
  // Its 1 GiB takes 4.096 epochs, 4 vCPUs losing 30 % of their time for half of that, and 512 ms of
  // copying; 20 ms are charged for any move.
  EXPECT_EQ(effect.cost, CpuTime{4 * 1'228'800 + 512'000 + 20'000});
  EXPECT_EQ(effect.to_move, kGiB);
  EXPECT_TRUE(effect.pays());
  const CpuTime before = now.lost();
  now.apply(std::array{Rehoming{client_of(snapshot, "b"), 1}});
  expect_near(before - now.lost(), effect.gain);
  EXPECT_EQ(now.home(client_of(snapshot, "b")), 1);
  EXPECT_THAT(now.residents(1), ElementsAre(1, 2));
}

TEST(ArrangementTest, TellsWhatASwapWouldBring) {
  // Node 0: a and c, 5 of 4 wanted; node 1: b alone.
  const Snapshot snapshot = uneven();
  const Arrangement now = arranged(snapshot);
  const ClientIndex b = client_of(snapshot, "b");
  const ClientIndex c = client_of(snapshot, "c");
  expect_near(effect_of_swap(now, b, c).gain, kCpu * 5 / 2);
  EXPECT_EQ(effect_of_swap(now, b, c).gain, effect_of_swap(now, c, b).gain);
}

TEST(ArrangementTest, GivesItselfBackWhenAChangeIsReversed) {
  const Snapshot snapshot = uneven();
  Arrangement now = arranged(snapshot);
  const CpuTime lost = now.lost();
  const Bytes room = now.room().ordinary(0);
  const std::array there{Rehoming{0, 1}, Rehoming{2, 0}};
  const std::array back{Rehoming{2, 1}, Rehoming{0, 0}};
  now.apply(there);
  EXPECT_NE(now.lost(), lost);
  const Effect undone = now.effect_of(back);
  const CpuTime between = now.lost();
  now.apply(back);
  EXPECT_EQ(now.lost(), lost);
  EXPECT_EQ(now.room().ordinary(0), room);
  EXPECT_EQ(now.imbalance(), Permille{750});
  expect_near(undone.gain, between - lost);
}

TEST(ArrangementTest, FindsNoEffectInNoChange) {
  const Snapshot snapshot = uneven();
  const Arrangement now = arranged(snapshot);
  const Effect effect = now.effect_of(std::array{Rehoming{0, 0}});
  EXPECT_EQ(effect.gain, CpuTime{});
  EXPECT_EQ(effect.cost, CpuTime{});
  EXPECT_EQ(now.effect_of({}).gain, CpuTime{});
}

TEST(ArrangementTest, JudgesUpToThreeRehomingsTogether) {
  // Two leave node 0 for different nodes and one comes.
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(3, {.cores = 4})
                                .vm({.name = "a", .homes = {0}, .vcpus = 3})
                                .vm({.name = "b", .homes = {0}, .vcpus = 3})
                                .vm({.name = "c", .homes = {0}, .vcpus = 3})
                                .vm({.name = "d", .homes = {1}, .vcpus = 2})
                                .build();
  Arrangement now = arranged(snapshot);
  const std::array changes{Rehoming{0, 1}, Rehoming{1, 2}, Rehoming{3, 2}};
  const Effect effect = now.effect_of(changes);
  // 11 of 12 wanted. Before: 9 of 4 on node 0. After: 3, 3 and 5 of 4 each; 1 is owed.
  expect_near(effect.gain, kCpu * 4);
  const CpuTime before = now.lost();
  now.apply(changes);
  expect_near(before - now.lost(), effect.gain);
}

TEST(ArrangementTest, LosesToMemoryThatCannotFollow) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 4})
                                .vm({.name = "a", .homes = {0}, .memory_stays_because = "VFIO"})
                                .build();
  Arrangement now = arranged(snapshot);
  const Effect effect = now.effect_of(std::array{Rehoming{0, 1}});
  EXPECT_EQ(effect.gain, CpuTime{-600'000});
  EXPECT_EQ(effect.cost, CpuTime{20'000});
  EXPECT_EQ(effect.to_move, Bytes{});
  now.apply(std::array{Rehoming{0, 1}});
  EXPECT_EQ(now.lost(), CpuTime{600'000});
  EXPECT_EQ(now.most_saved_beside(0), CpuTime{600'000});
}

TEST(ArrangementTest, HugePagesNeedRoomInThePoolAndNowhereElse) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {.memory_gib = 50, .huge_gib = 8})
                          .vm({.name = "a", .homes = {0}, .memory_gib = {5, 0}, .huge_pages = true})
                          .vm({.name = "b", .homes = {1}, .memory_gib = {0, 4}, .huge_pages = true})
                          .vm({.name = "c", .homes = {1}, .memory_gib = {0, 8}})
                          .build();
  Arrangement now = arranged(snapshot);
  EXPECT_FALSE(now.effect_of(std::array{Rehoming{0, 1}}).fits);
  EXPECT_FALSE(now.effect_of(std::array{Rehoming{1, 0}}).fits);  // 4 GiB do not fit into 3
  const std::array swap{Rehoming{0, 1}, Rehoming{1, 0}};
  EXPECT_TRUE(now.effect_of(swap).fits);
  const std::array beside{Rehoming{0, 1}, Rehoming{2, 0}};
  EXPECT_FALSE(now.effect_of(beside).fits);  // c makes no room for a
  now.apply(swap);
  EXPECT_EQ(now.room().of(0, 0), kGiB * 4);
  EXPECT_EQ(now.room().of(0, 1), kGiB * 3);
  // However little ordinary memory there is.
  snapshot.nodes[0].free = snapshot.nodes[1].free = Bytes{};
  EXPECT_TRUE(arranged(snapshot).effect_of(swap).fits);
}

TEST(ArrangementTest, CountsTheRoomThatAMoveTakesAndLeaves) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.memory_gib = 50})
                                .vm({.name = "a", .homes = {0}, .memory_gib = {30, 2}})
                                .vm({.name = "b", .homes = {1}, .memory_gib = {0, 40}})
                                .build();
  Arrangement now = arranged(snapshot);
  const Bytes reserve = kGiB;
  EXPECT_EQ(now.room().ordinary(0), kGiB * 20 - reserve);
  EXPECT_EQ(now.room().ordinary(1), kGiB * 8 - reserve);
  // 30 GiB do not fit into 7.
  EXPECT_FALSE(now.effect_of(std::array{Rehoming{0, 1}}).fits);
  // Changing places works: b leaves 40 GiB to a, a 30 of 49 to b.
  const Effect swap = effect_of_swap(now, 0, 1);
  EXPECT_TRUE(swap.fits);
  EXPECT_EQ(swap.to_move, kGiB * 70);
  now.apply(std::array{Rehoming{0, 1}, Rehoming{1, 0}});
  EXPECT_EQ(now.room().ordinary(0), kGiB * 10 - reserve);
  EXPECT_EQ(now.room().ordinary(1), kGiB * 18 - reserve);
}

TEST(ArrangementTest, AGuaranteedClientTakesItsPromiseAlongAndMayComeBack) {
  // Of 60 GiB it has touched 8, so that 4 of each node's 64 are no VM's, less the reserve.
  VmPolicy kept;
  kept.memory_class = MemoryClass::kGuaranteed;
  const Snapshot snapshot =
      SnapshotBuilder()
          .nodes(2, {.memory_gib = 64})
          .vm({.name = "a", .homes = {0}, .memory_gib = {8}, .size_gib = 60, .policy = kept})
          .build();
  Arrangement now = arranged(snapshot);
  const MemoryRoom before = now.room();
  now.apply(std::array{Rehoming{0, 1}});
  EXPECT_EQ(now.room().ordinary(0) - before.ordinary(0), kGiB * 60);
  EXPECT_EQ(before.ordinary(1) - now.room().ordinary(1), kGiB * 60);
  EXPECT_TRUE(now.effect_of(std::array{Rehoming{0, 0}}).fits);
  now.apply(std::array{Rehoming{0, 0}});
  EXPECT_EQ(now.room(), before);
}

TEST(ArrangementTest, LetsTwoThatGoToOneNodeShareItsRoom) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(3, {.memory_gib = 50})
                                .vm({.name = "a", .homes = {0}, .memory_gib = {25, 0, 0}})
                                .vm({.name = "b", .homes = {1}, .memory_gib = {0, 25, 0}})
                                .build();
  const Arrangement now = arranged(snapshot);
  EXPECT_TRUE(now.effect_of(std::array{Rehoming{0, 2}}).fits);
  EXPECT_TRUE(now.effect_of(std::array{Rehoming{1, 2}}).fits);
  EXPECT_FALSE(now.effect_of(std::array{Rehoming{0, 2}, Rehoming{1, 2}}).fits);
}

TEST(ArrangementTest, RemembersWhatWasNotTouchedYet) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {})
                                .vm({.name = "a", .homes = {0}, .memory_gib = {2}, .size_gib = 8})
                                .build();
  Arrangement now = arranged(snapshot);
  EXPECT_EQ(now.untouched().ordinary(0), kGiB * 6);
  now.apply(std::array{Rehoming{0, 1}});
  EXPECT_EQ(now.untouched().ordinary(0), Bytes{});
  EXPECT_EQ(now.untouched().ordinary(1), kGiB * 6);
}

TEST(ArrangementTest, TakesMemoryThatWasNotReadForTouched) {
  Snapshot snapshot = SnapshotBuilder()
                          .nodes(2, {})
                          .vm({.name = "a", .homes = {0}, .memory_gib = {0}, .size_gib = 8})
                          .build();
  snapshot.clients[0].memory_known = false;
  EXPECT_EQ(arranged(snapshot).untouched().ordinary(0), Bytes{});
  snapshot.vms[0].measured = false;  // but not that of a VM that has just begun
  EXPECT_EQ(arranged(snapshot).untouched().ordinary(0), kGiB * 8);
}

Snapshot with_groups(const VmPolicy& policy) {
  // Idle VMs of 2 vCPUs; a broken pair costs 10 % of 2 CPUs.
  return SnapshotBuilder()
      .nodes(3, {.cores = 8})
      .vm({.name = "a", .homes = {0}, .vcpus = 2, .busy_pct = 0, .policy = policy})
      .vm({.name = "b", .homes = {1}, .vcpus = 2, .busy_pct = 0, .policy = policy})
      .vm({.name = "c", .homes = {1}, .vcpus = 4, .busy_pct = 0, .policy = policy})
      .vm({.name = "d", .homes = {1}, .vcpus = 4, .busy_pct = 0})
      .build();
}

TEST(ArrangementTest, LosesForEveryBrokenPairOfAnAffinityGroup) {
  VmPolicy policy;
  policy.affinity_group = "web";
  const Snapshot snapshot = with_groups(policy);
  Arrangement now = arranged(snapshot);
  // a is apart from b and from c; b and c are together; d is in no group.
  EXPECT_EQ(now.lost(), kCpu * 2 / 5);
  EXPECT_EQ(now.effect_of(std::array{Rehoming{0, 1}}).gain, kCpu * 2 / 5);
  EXPECT_EQ(now.effect_of(std::array{Rehoming{1, 0}}).gain, CpuTime{});
  EXPECT_EQ(now.most_saved_beside(0), kCpu * 2 / 5);
  // Both at once: the pair of the two counts once.
  const std::array both{Rehoming{1, 0}, Rehoming{2, 0}};
  EXPECT_EQ(now.effect_of(both).gain, kCpu * 2 / 5);
  now.apply(both);
  EXPECT_EQ(now.lost(), CpuTime{});
}

TEST(ArrangementTest, LosesForEveryPairOfAnAntiAffinityGroupOnOneNode) {
  VmPolicy policy;
  policy.anti_affinity_group = "db";
  const Snapshot snapshot = with_groups(policy);
  const Arrangement now = arranged(snapshot);
  EXPECT_EQ(now.lost(), kCpu / 5);
  EXPECT_EQ(now.effect_of(std::array{Rehoming{1, 2}}).gain, kCpu / 5);
  EXPECT_EQ(now.effect_of(std::array{Rehoming{2, 0}}).gain, CpuTime{});
  EXPECT_FALSE(now.forbidden_by_group(0, 1, {}));
}

TEST(ArrangementTest, ForbidsWhatAHardGroupForbids) {
  VmPolicy policy;
  policy.anti_affinity_group = "db";
  policy.anti_affinity_hard = true;
  const Snapshot snapshot = with_groups(policy);
  const Arrangement now = arranged(snapshot);
  EXPECT_TRUE(now.forbidden_by_group(0, 1, {}));
  EXPECT_FALSE(now.forbidden_by_group(0, 2, {}));
  EXPECT_FALSE(now.forbidden_by_group(3, 1, {}));
  // Two leave, so there is place; or one comes, so there is none.
  EXPECT_FALSE(now.forbidden_by_group(0, 1, std::array{Rehoming{1, 0}, Rehoming{2, 2}}));
  EXPECT_TRUE(now.forbidden_by_group(0, 2, std::array{Rehoming{0, 2}, Rehoming{1, 2}}));
}

TEST(ArrangementTest, KeepsNoMoreOfAVmOnANodeThanItsPolicyAllows) {
  const auto forbids = [](std::int32_t max_per_node, std::vector<NodeIndex> homes, NodeIndex to) {
    VmPolicy policy;
    policy.max_per_node = max_per_node;
    const Snapshot snapshot =
        SnapshotBuilder()
            .nodes(2, {.cores = 8})
            .vm({.name = "wide", .homes = std::move(homes), .vcpus = 2, .policy = policy})
            .build();
    return arranged(snapshot).forbidden_by_group(0, to, {});
  };
  EXPECT_TRUE(forbids(2, {0, 1}, 1));
  EXPECT_TRUE(forbids(3, {0, 1}, 1));
  EXPECT_FALSE(forbids(4, {0, 1}, 1));
  EXPECT_FALSE(forbids(0, {0, 1}, 1));
  EXPECT_FALSE(forbids(2, {0, 0}, 1));
  EXPECT_FALSE(forbids(2, {0, 1, 1}, 1));  // three clients, two nodes: it cannot be kept
}

TEST(ArrangementTest, KeepsClientsOfOneVmOutOfItsGroups) {
  VmPolicy policy;
  policy.anti_affinity_group = "db";
  policy.anti_affinity_hard = true;
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 8})
                                .vm({.name = "wide", .homes = {0, 0}, .policy = policy})
                                .build();
  const Arrangement now = arranged(snapshot);
  EXPECT_EQ(now.lost(), CpuTime{});
  EXPECT_FALSE(now.forbidden_by_group(0, 0, {}));
}

TEST(ArrangementTest, LeavesNodesWithoutReadingsOutOfTheImbalance) {
  Snapshot snapshot = uneven();
  snapshot.nodes[1].known = false;
  EXPECT_EQ(arranged(snapshot).imbalance(), Permille{});
}

TEST(ArrangementTest, LeavesNodesThatCannotBeAHomeOutOfTheImbalance) {
  const Snapshot snapshot = SnapshotBuilder()
                                .node({.cores = 2})
                                .node({.cores = 0})
                                .node({.memory_gib = 0})
                                .vm({.name = "a", .homes = {0}, .vcpus = 2})
                                .vm({.name = "b", .homes = {0}, .vcpus = 2})
                                .build();
  EXPECT_EQ(arranged(snapshot).imbalance(), Permille{});
}

TEST(ArrangementTest, MeasuresANodeThatOthersUseUpByItsCores) {
  const Snapshot snapshot = SnapshotBuilder()
                                .node({.cores = 2, .others_pct = 200})
                                .node({.cores = 2})
                                .vm({.name = "a", .homes = {0}})
                                .build();
  EXPECT_EQ(arranged(snapshot).owed_share(0), Permille{500});
}

TEST(ArrangementTest, WeighsByLoadAverageForPlacements) {
  Snapshot snapshot = uneven();
  snapshot.clients[2].load = kCpu * 4;
  const Options options = options_of(Preset::kEsxi);  // 125 MiB/s
  const Arrangement by_load(snapshot, options, Arrangement::Basis::kLoad);
  EXPECT_EQ(by_load.node(1).demand(), kCpu * 4);
  EXPECT_EQ(arranged(snapshot).node(1).demand(), kCpu);
}

TEST(ArrangementTest, PlacesAClientWithoutAHome) {
  const Snapshot snapshot =
      SnapshotBuilder()
          .nodes(2, {.cores = 4})
          .vm({.name = "a", .homes = {kNoNode}, .vcpus = 2, .memory_gib = {1, 0}})
          .build();
  Arrangement now = arranged(snapshot);
  EXPECT_THAT(now.residents(0), IsEmpty());
  const Effect effect = now.effect_of(std::array{Rehoming{0, 1}});
  // Nothing is charged for the first move itself, only for its 1 GiB of memory on node 0.
  EXPECT_EQ(effect.cost, CpuTime{2 * 1'228'800 + 512'000});
  now.apply(std::array{Rehoming{0, 1}});
  EXPECT_THAT(now.residents(1), ElementsAre(0));
  now.apply(std::array{Rehoming{0, kNoNode}});
  EXPECT_THAT(now.residents(1), IsEmpty());
}

}  // namespace
}  // namespace vmnuma
