// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/make_room.h"

#include <functional>

#include <gmock/gmock.h>

#include "placement/largest_vm.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using tests::SnapshotBuilder;

RoomMade made(
    const Snapshot& snapshot, std::int64_t gib, std::vector<NodeIndex> nodes,
    std::int32_t vcpus = 1, double seconds = 60,
    const std::function<double()>& clock = [] { return 0.0; }) {
  const Options options;
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  FreeForVm free;
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    free.room.push_back(room_for_starts(now, node));
  }
  return make_room(now, free, {vcpus, kGiB * gib, Bytes{}, std::move(nodes)}, seconds, clock);
}

/// "a->1, b->2", a step each.
std::vector<std::string> steps_of(const Snapshot& snapshot, const RoomMade& made) {
  std::vector<std::string> lines;
  for (const Step& step : made.sequence.steps) {
    std::string line;
    for (const Relocation& relocation : step.relocations) {
      const std::size_t vm = snapshot.clients[index_of(snapshot, relocation.client)].vm;
      line +=
          (line.empty() ? "" : ", ") + snapshot.vms[vm].name + "->" + std::to_string(relocation.to);
    }
    lines.push_back(line);
  }
  return lines;
}

/// So much of each node is free for VMs.
std::vector<std::int64_t> free_gib(const Snapshot& snapshot) {
  const Options options;
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  std::vector<std::int64_t> all;
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    all.push_back(room_for_starts(now, node).value / kGiB.value);
  }
  return all;
}

/// Two full-ish nodes of 64 GiB: on the first a VM of 20 GiB and one of 6, on the second one of 30.
SnapshotBuilder two_nodes() {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8});
  builder.vm({.name = "large", .homes = {0}, .busy_pct = 10, .memory_gib = {20, 0}});
  builder.vm({.name = "small", .homes = {0}, .busy_pct = 10, .memory_gib = {6, 0}});
  builder.vm({.name = "other", .homes = {1}, .busy_pct = 10, .memory_gib = {0, 30}});
  return builder;
}

TEST(MakeRoomTest, MovesTheSmallestVmThatMakesEnoughRoom) {
  const Snapshot snapshot = two_nodes().build();
  const std::int64_t free = free_gib(snapshot)[0];
  const RoomMade room = made(snapshot, free + 3, {0, 1});
  EXPECT_EQ(room.node, 0U);
  EXPECT_THAT(steps_of(snapshot, room), ElementsAre("small->1"));
  EXPECT_EQ(room.memory, kGiB * 6);
  EXPECT_EQ(room.moves, 1);
  EXPECT_TRUE(room.is_cheapest);
  EXPECT_THAT(room.refused, IsEmpty());
}

TEST(MakeRoomTest, VmsOfLowerPriorityAreMovedBeforeOthers) {
  const auto with_priorities = [](std::int32_t small, std::int32_t large, std::int32_t other) {
    SnapshotBuilder builder;
    builder.nodes(2, {.cores = 8});
    const auto add = [&](const char* name, NodeIndex home, std::int64_t gib,
                         std::int32_t priority) {
      tests::VmSpec vm{.name = name, .homes = {home}, .busy_pct = 10};
      vm.memory_gib =
          home == 0 ? std::vector<std::int64_t>{gib, 0} : std::vector<std::int64_t>{0, gib};
      vm.policy.priority = priority;
      builder.vm(vm);
    };
    add("large", 0, 20, large);
    add("small", 0, 6, small);
    add("other", 1, 30, other);
    return builder.build();
  };
  const auto steps = [](const Snapshot& snapshot, std::vector<NodeIndex> nodes) {
    const RoomMade room = made(snapshot, free_gib(snapshot)[0] + 3, std::move(nodes));
    EXPECT_TRUE(room.is_cheapest);
    return steps_of(snapshot, room);
  };
  EXPECT_THAT(steps(with_priorities(0, 0, 0), {0, 1}), ElementsAre("small->1"));
  EXPECT_THAT(steps(with_priorities(1, 0, 1), {0, 1}), ElementsAre("large->1"));
  EXPECT_THAT(steps(with_priorities(-1, 0, -2), {0, 1}), ElementsAre("other->0"));
  // No other can: important ones move, too, the least of them first.
  EXPECT_THAT(steps(with_priorities(9, 8, 9), {0}), ElementsAre("large->1"));
  EXPECT_THAT(steps(with_priorities(9, 9, 0), {0}), ElementsAre("small->1"));
}

TEST(MakeRoomTest, MovesNoVmWhereItFits) {
  const Snapshot snapshot = two_nodes().build();
  const RoomMade room = made(snapshot, free_gib(snapshot)[0], {0, 1});
  EXPECT_EQ(room.node, 0U);
  EXPECT_THAT(room.sequence.steps, IsEmpty());
  EXPECT_EQ(room.memory, Bytes{});
}

TEST(MakeRoomTest, KeepsToTheNodesThatItMayUseAndThatHaveTheCpus) {
  const Snapshot snapshot = two_nodes().build();
  const std::int64_t needs = free_gib(snapshot)[1] + 3;
  const RoomMade on_second = made(snapshot, needs, {1});
  EXPECT_EQ(on_second.node, 1U);
  EXPECT_THAT(steps_of(snapshot, on_second), ElementsAre("other->0"));
  const RoomMade wide = made(snapshot, needs, {0, 1}, /*vcpus=*/9);
  EXPECT_EQ(wide.node, kNoNode);
  EXPECT_THAT(wide.refused, HasSubstr("that many CPUs"));
  const RoomMade larger_than_a_node = made(snapshot, 64, {0, 1});
  EXPECT_THAT(larger_than_a_node.refused, HasSubstr("that much memory"));
  EXPECT_THAT(larger_than_a_node.in_the_way, IsEmpty());
}

TEST(MakeRoomTest, SaysWhichVmsAreInTheWayAndWhy) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8});
  VmPolicy stays;
  stays.do_not_move = true;
  builder.vm(
      {.name = "kept", .homes = {0}, .busy_pct = 10, .memory_gib = {30, 0}, .policy = stays});
  builder.vm({.name = "passed",
              .homes = {0},
              .busy_pct = 10,
              .memory_gib = {8, 0},
              .memory_stays_because = "it has a passed-through device"});
  builder.vm({.name = "new", .homes = {0}, .busy_pct = 10, .memory_gib = {4, 0}, .epochs_here = 1});
  builder.vm({.name = "travels",
              .homes = {0},
              .busy_pct = 10,
              .memory_gib = {2, 0},
              .transferring = true});
  const Snapshot snapshot = builder.build();
  const RoomMade room = made(snapshot, free_gib(snapshot)[0] + 1, {0});
  EXPECT_EQ(room.node, kNoNode);
  EXPECT_THAT(room.sequence.steps, IsEmpty());
  EXPECT_THAT(room.refused, HasSubstr("VMs that may move"));
  ASSERT_THAT(room.in_the_way, SizeIs(4));
  EXPECT_EQ(room.in_the_way[0].because, Guard::kDoNotMove);
  EXPECT_EQ(room.in_the_way[0].memory, kGiB * 30);
  EXPECT_EQ(room.in_the_way[1].because, Guard::kMemoryStays);
  EXPECT_EQ(room.in_the_way[1].detail, "it has a passed-through device");
  EXPECT_EQ(room.in_the_way[2].because, Guard::kResidency);
  EXPECT_EQ(room.in_the_way[3].because, Guard::kMoving);
}

TEST(MakeRoomTest, MoreThanTheHostHasFreeIsRefusedAsSuch) {
  SnapshotBuilder builder = two_nodes();
  builder.vm({.name = "more", .homes = {0}, .busy_pct = 10, .memory_gib = {28, 0}});
  const Snapshot snapshot = builder.build();
  const std::vector<std::int64_t> free = free_gib(snapshot);
  const RoomMade room = made(snapshot, free[0] + free[1] + 2, {0, 1});
  EXPECT_EQ(room.node, kNoNode);
  EXPECT_THAT(room.refused, HasSubstr("all nodes together"));
}

TEST(MakeRoomTest, HugePagesComeFromPoolsAndOnlyTheirVmsMakeRoomInThem) {
  constexpr Bytes kPage = kMiB * 2;
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8, .huge_gib = 32});
  builder.vm({.name = "ordinary", .homes = {0}, .busy_pct = 10, .memory_gib = {2, 0}});
  builder.vm(
      {.name = "pool1", .homes = {0}, .busy_pct = 10, .memory_gib = {10, 0}, .huge_pages = true});
  builder.vm(
      {.name = "pool2", .homes = {0}, .busy_pct = 10, .memory_gib = {6, 0}, .huge_pages = true});
  builder.vm(
      {.name = "pool3", .homes = {1}, .busy_pct = 10, .memory_gib = {0, 20}, .huge_pages = true});
  const Snapshot snapshot = builder.build();
  const Options options;
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  const auto pages = [](std::int64_t gib) { return (kGiB * gib).value / kPage.value; };
  FreeForVm free;
  free.huge_pages = {{snapshot.topology.nodes[0].id, pages(16), pages(32), kPage},
                     {snapshot.topology.nodes[1].id, pages(12), pages(32), kPage}};
  const RoomMade room = make_room(now, free, {1, kGiB * 20, kPage, {0, 1}}, 60, [] { return 0.0; });
  EXPECT_THAT(steps_of(snapshot, room), ElementsAre("pool2->1"));
  EXPECT_EQ(room.memory, kGiB * 6);
  const RoomMade none = make_room(now, free, {1, kGiB, kGiB, {0, 1}}, 60, [] { return 0.0; });
  EXPECT_EQ(none.node, kNoNode);  // no node has such pages
  EXPECT_THAT(none.refused, HasSubstr("that much memory"));
}

TEST(MakeRoomTest, WithoutTimeItSaysSoAndNotThatThereIsNoWay) {
  const Snapshot snapshot = two_nodes().build();
  const RoomMade room = made(snapshot, free_gib(snapshot)[0] + 3, {0, 1}, 1, /*seconds=*/0);
  EXPECT_EQ(room.node, kNoNode);
  EXPECT_THAT(room.refused, HasSubstr("within its time limit"));
  EXPECT_FALSE(room.is_cheapest);
}

TEST(MakeRoomTest, ANodeThatMissesLittleGoesBeforeOneWhereAsMuchWouldHaveToMove) {
  // On node 1 as much is missing as moves for node 0, so nothing is to be gained there.
  const Snapshot snapshot = two_nodes().build();
  const std::vector<std::int64_t> free = free_gib(snapshot);
  ASSERT_GT(free[0], free[1]);
  const RoomMade room = made(snapshot, free[0] + 6, {0, 1});
  EXPECT_EQ(room.node, 0U);
  EXPECT_EQ(room.memory, kGiB * 6);
  EXPECT_LE(room.least, room.memory);
  EXPECT_GT(room.least, kGiB * 5);
  EXPECT_TRUE(room.is_cheapest);
}

TEST(MakeRoomTest, VmsChangePlacesWhereOneAfterTheOtherHasNoRoom) {
  // Free are a little on both: 24 for 20 is a step of both at once.
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8, .memory_gib = 32});
  builder.vm({.name = "a", .homes = {0}, .busy_pct = 10, .memory_gib = {24, 0}});
  builder.vm({.name = "b", .homes = {1}, .busy_pct = 10, .memory_gib = {0, 20}});
  const Snapshot snapshot = builder.build();
  const RoomMade room = made(snapshot, free_gib(snapshot)[0] + 3, {0});
  EXPECT_THAT(steps_of(snapshot, room), ElementsAre(testing::AnyOf("a->1, b->0", "b->0, a->1")));
  EXPECT_EQ(room.memory, kGiB * 44);
}

TEST(MakeRoomTest, OfTargetsThatCostTheSameTakesTheOneThatLosesLess) {
  SnapshotBuilder builder;
  builder.nodes(3, {.cores = 4});
  builder.vm({.name = "small", .homes = {0}, .vcpus = 4, .memory_gib = {6, 0, 0}});
  builder.vm({.name = "busy", .homes = {1}, .vcpus = 4, .memory_gib = {0, 6, 0}});
  builder.vm({.name = "idle", .homes = {2}, .busy_pct = 1, .memory_gib = {0, 0, 6}});
  const Snapshot snapshot = builder.build();
  const RoomMade room = made(snapshot, free_gib(snapshot)[0] + 3, {0});
  EXPECT_THAT(steps_of(snapshot, room), ElementsAre("small->2"));
}

TEST(MakeRoomTest, ComparesTargetsThatCostTheSameOnlyWhileThereIsTime) {
  const auto target = [](NodeIndex busy, double seconds_per_look) {
    SnapshotBuilder builder;
    builder.nodes(3, {.cores = 4});
    builder.vm({.name = "small", .homes = {0}, .vcpus = 4, .memory_gib = {6, 0, 0}});
    builder.vm({.name = "a",
                .homes = {1},
                .vcpus = 4,
                .busy_pct = busy == 1 ? 100 : 1,
                .memory_gib = {0, 6, 0}});
    builder.vm({.name = "b",
                .homes = {2},
                .vcpus = 4,
                .busy_pct = busy == 2 ? 100 : 1,
                .memory_gib = {0, 0, 6}});
    const Snapshot snapshot = builder.build();
    double now = -seconds_per_look;
    const RoomMade room = made(snapshot, free_gib(snapshot)[0] + 3, {0}, 1, /*seconds=*/60,
                               [&] { return now += seconds_per_look; });
    EXPECT_EQ(room.moves, 1);
    return room.sequence.reached.empty() ? kNoNode : room.sequence.reached[0];
  };
  EXPECT_EQ(target(1, 0), 2U);
  EXPECT_EQ(target(2, 0), 1U);
  // The clock is looked at three times until there is an answer, which depends on memory only.
  EXPECT_EQ(target(1, 20), target(2, 20));
}

}  // namespace
}  // namespace vmnuma::balancer
