// SPDX-License-Identifier: Apache-2.0
#include "placement/memory_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using testing::ElementsAre;
using tests::SnapshotBuilder;

/// VM a has 3 GiB of huge pages on node 0, b 2 GiB on node 1, c ordinary memory.
Snapshot two_pools() {
  return SnapshotBuilder()
      .nodes(2, {.memory_gib = 50, .huge_gib = 8})
      .vm({.name = "a", .homes = {0}, .memory_gib = {3, 0}, .huge_pages = true})
      .vm({.name = "b", .homes = {1}, .memory_gib = {0, 2}, .huge_pages = true})
      .vm({.name = "c", .homes = {0}, .memory_gib = {10, 0}})
      .build();
}

TEST(MemoryRoomTest, OrdinaryRoomIsWhatIsFreeLessTheReserve) {
  Snapshot snapshot = two_pools();
  const Bytes reserve = kGiB;  // 2 % of 50 GiB
  EXPECT_EQ(MemoryRoom(snapshot).ordinary(0), kGiB * 40 - reserve);
  EXPECT_EQ(MemoryRoom(snapshot).of(2, 1), kGiB * 50 - reserve);
  snapshot.nodes[0].free = Bytes{1};
  EXPECT_EQ(MemoryRoom(snapshot).ordinary(0), Bytes{});
}

TEST(MemoryRoomTest, APoolHasRoomForWhatNoVmHasOfIt) {
  const Snapshot snapshot = two_pools();
  const MemoryRoom room(snapshot);
  EXPECT_EQ(room.of(0, 0), kGiB * 5);
  EXPECT_EQ(room.of(0, 1), kGiB * 6);
  EXPECT_EQ(room.of(1, 0), kGiB * 5);
  EXPECT_TRUE(room.share(0, 1));
  EXPECT_FALSE(room.share(0, 2));
}

TEST(MemoryRoomTest, EachSizeOfPagesHasAPoolOfItsOwn) {
  Snapshot snapshot = two_pools();
  snapshot.vms[1].huge_page_size = kGiB;
  snapshot.topology.nodes[1].huge_pages.push_back({kGiB, 4});
  const MemoryRoom room(snapshot);
  EXPECT_EQ(room.of(0, 1), kGiB * 8);
  EXPECT_EQ(room.of(1, 1), kGiB * 2);
  EXPECT_EQ(room.of(1, 0), Bytes{});  // there is none
  EXPECT_FALSE(room.share(0, 1));
}

TEST(MemoryRoomTest, TheMemoryOfEachClientIsOfItsOwnPool) {
  Snapshot snapshot =
      SnapshotBuilder()
          .nodes(2, {.memory_gib = 50, .huge_gib = 8})
          .vm({.name = "a", .homes = {0, 1}, .memory_gib = {3, 0}, .huge_pages = true})
          .build();
  snapshot.clients[1].page_size = Bytes{};  // its cells have ordinary pages
  const MemoryRoom room(snapshot);
  EXPECT_EQ(room.of(0, 0), kGiB * 5);
  EXPECT_EQ(room.of(1, 0), room.ordinary(0));
  EXPECT_FALSE(room.share(0, 1));
  EXPECT_THAT(memory_by_node(snapshot, snapshot.clients[1]), ElementsAre(kGiB * 3, Bytes{}));
}

TEST(MemoryRoomTest, OtherMemoryOfQemuIsNotOfThePool) {
  Snapshot snapshot = two_pools();
  ClientState& client = snapshot.clients[0];
  client.memory[0] += kMiB * 30;
  client.memory[1] += kMiB * 2;
  EXPECT_THAT(memory_by_node(snapshot, client), ElementsAre(kGiB * 3 - kMiB * 2, kMiB * 2));
  EXPECT_THAT(memory_by_node(snapshot, snapshot.clients[2]), ElementsAre(kGiB * 10, Bytes{}));
}

TEST(MemoryRoomTest, WithoutReadingsAllOfItIsTakenToBeAtHome) {
  Snapshot snapshot = two_pools();
  snapshot.clients[0].memory_known = false;
  snapshot.clients[0].memory = {Bytes{}, kGiB};
  EXPECT_EQ(MemoryRoom(snapshot).of(1, 0), kGiB * 5);
  EXPECT_EQ(MemoryRoom(snapshot).of(1, 1), kGiB * 6);
}

TEST(MemoryRoomTest, WhatAVmIsGuaranteedAtHomeIsNoRoomForOthers) {
  VmPolicy kept;
  kept.memory_class = MemoryClass::kGuaranteed;
  const auto room = [](const VmPolicy& policy) {
    const Snapshot snapshot =
        SnapshotBuilder()
            .nodes(2, {.memory_gib = 64})
            .vm({.name = "a", .homes = {0}, .memory_gib = {8}, .size_gib = 20, .policy = policy})
            .build();
    return MemoryRoom(snapshot);
  };
  EXPECT_EQ(room({}).ordinary(0) - room(kept).ordinary(0), kGiB * 12);
  EXPECT_EQ(room({}).ordinary(1), room(kept).ordinary(1));
}

TEST(MemoryRoomTest, NoneHasTheSameKindsAndNothing) {
  const Snapshot snapshot = two_pools();
  const MemoryRoom none = MemoryRoom::none(snapshot);
  EXPECT_EQ(none.of(0, 0), Bytes{});
  EXPECT_EQ(none.ordinary(1), Bytes{});
  EXPECT_TRUE(none.share(0, 1));
  EXPECT_FALSE(none.share(1, 2));
}

}  // namespace
}  // namespace vmnuma
