// SPDX-License-Identifier: Apache-2.0
#include "migration/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr Permille kNoReserve{0};

MemoryRange range_on(std::vector<NodeBytes> resident) {
  return {.start = 0x1000,
          .length = kGiB,
          .page_size = kKiB * 4,
          .huge_page_size = {},
          .hugetlb = false,
          .shared = false,
          .policy = {},
          .resident = std::move(resident)};
}

MemoryRange hugetlb_on(NodeId node, Bytes bytes) {
  MemoryRange range = range_on({{node, bytes}});
  range.page_size = kMiB * 2;
  range.hugetlb = true;
  return range;
}

NodeMemory node_with(Bytes available) {
  return {.total = kGiB * 10, .available = available, .pools = {{kMiB * 2, 4}}};
}

TEST(RoomNeedsTest, AreWhatIsNotAtHome) {
  EXPECT_THAT(
      room_needs({{NodeId{1}, kGiB}}, {range_on({{NodeId{0}, kMiB * 10}, {NodeId{1}, kMiB * 5}})}),
      ElementsAre(RoomNeed{NodeId{0}, kOrdinary, {}, kMiB * 10},
                  RoomNeed{NodeId{1}, kOrdinary, kMiB * 10, {}}));
}

TEST(RoomNeedsTest, AreNoneWhenEverythingIsAtHome) {
  EXPECT_TRUE(room_needs({{NodeId{1}, kGiB}}, {range_on({{NodeId{1}, kGiB}})}).empty());
}

TEST(RoomNeedsTest, CountHugePagePoolsByThemselves) {
  EXPECT_THAT(room_needs({{NodeId{1}, kGiB}},
                         {range_on({{NodeId{0}, kMiB}}), hugetlb_on(NodeId{0}, kMiB * 4)}),
              UnorderedElementsAre(RoomNeed{NodeId{0}, kOrdinary, {}, kMiB},
                                   RoomNeed{NodeId{1}, kOrdinary, kMiB, {}},
                                   RoomNeed{NodeId{0}, kMiB * 2, {}, kMiB * 4},
                                   RoomNeed{NodeId{1}, kMiB * 2, kMiB * 4, {}}));
}

TEST(RoomNeedsTest, LeaveOutWhatHasAPolicyOfItsOwn) {
  MemoryRange bound = range_on({{NodeId{0}, kGiB}});
  bound.policy = "bind:0";
  EXPECT_TRUE(room_needs({{NodeId{1}, kGiB}}, {bound}).empty());
}

TEST(RoomNeedsTest, AskForNoMoreThanAQuota) {
  EXPECT_THAT(room_needs({{NodeId{1}, kMiB * 6}}, {range_on({{NodeId{0}, kMiB * 10}})}),
              ElementsAre(RoomNeed{NodeId{0}, kOrdinary, {}, kMiB * 10},
                          RoomNeed{NodeId{1}, kOrdinary, kMiB * 6, {}}));
}

TEST(WhyNoRoomTest, AMoveThatFitsHasNoReason) {
  EXPECT_EQ(why_no_room({{NodeId{1}, kOrdinary, kMiB * 10, {}}},
                        {{NodeId{1}, node_with(kMiB * 10)}}, kNoReserve, {}),
            std::nullopt);
}

TEST(WhyNoRoomTest, TheReserveIsNotGivenAway) {
  // 2 % of 10 GiB, in whole thousandths of the total.
  const Bytes reserve = kGiB * 10 / 1000 * 20;
  EXPECT_EQ(why_no_room({{NodeId{1}, kOrdinary, kMiB * 10, {}}},
                        {{NodeId{1}, node_with(reserve + kMiB * 10)}}, Permille{20}, {}),
            std::nullopt);
  EXPECT_THAT(
      why_no_room({{NodeId{1}, kOrdinary, kMiB * 10, {}}},
                  {{NodeId{1}, node_with(reserve + kMiB * 9)}}, Permille{20}, {}),
      testing::Optional(HasSubstr("node 1 has room for 9.0 MiB above its reserve, 10.0 MiB")));
}

TEST(WhyNoRoomTest, HugePagesComeFromTheirPool) {
  EXPECT_EQ(why_no_room({{NodeId{1}, kMiB * 2, kMiB * 8, {}}}, {{NodeId{1}, node_with({})}},
                        Permille{20}, {}),
            std::nullopt);
  EXPECT_THAT(why_no_room({{NodeId{1}, kMiB * 2, kMiB * 10, {}}}, {{NodeId{1}, node_with(kGiB)}},
                          Permille{20}, {}),
              testing::Optional(HasSubstr("in huge pages of 2.0 MiB")));
  EXPECT_NE(why_no_room({{NodeId{1}, kGiB, kGiB, {}}}, {{NodeId{1}, node_with(kGiB * 9)}},
                        Permille{20}, {}),
            std::nullopt);
}

TEST(WhyNoRoomTest, AnExchangeNeedsRoomForAFirstChunkOnOneSide) {
  const std::vector<RoomNeed> needs{{NodeId{0}, kOrdinary, kGiB, kGiB},
                                    {NodeId{1}, kOrdinary, kGiB, kGiB}};
  EXPECT_EQ(why_no_room(needs, {{NodeId{0}, node_with({})}, {NodeId{1}, node_with(kMiB * 2)}},
                        kNoReserve, {}),
            std::nullopt);
  EXPECT_THAT(why_no_room(needs, {{NodeId{0}, node_with(kMiB)}, {NodeId{1}, node_with(kMiB)}},
                          kNoReserve, {}),
              testing::Optional(HasSubstr("even a first part of the exchange")));
}

TEST(WhyNoRoomTest, AnUnequalExchangeNeedsRoomForTheDifference) {
  const std::vector<RoomNeed> needs{{NodeId{0}, kOrdinary, kGiB, kGiB * 2},
                                    {NodeId{1}, kOrdinary, kGiB * 2, kGiB}};
  EXPECT_NE(why_no_room(needs, {{NodeId{0}, node_with(kGiB)}, {NodeId{1}, node_with(kMiB * 1000)}},
                        kNoReserve, {}),
            std::nullopt);
  EXPECT_EQ(why_no_room(needs, {{NodeId{0}, node_with({})}, {NodeId{1}, node_with(kGiB)}},
                        kNoReserve, {}),
            std::nullopt);
}

TEST(WhyNoRoomTest, WhatIsPromisedToOthersIsNotThere) {
  const std::vector<RoomNeed> needs{{NodeId{1}, kOrdinary, kMiB * 10, {}}};
  const std::map<NodeId, NodeMemory> nodes{{NodeId{1}, node_with(kMiB * 15)}};
  EXPECT_EQ(why_no_room(needs, nodes, kNoReserve, {{{NodeId{1}, kOrdinary}, kMiB * 5}}),
            std::nullopt);
  EXPECT_EQ(why_no_room(needs, nodes, kNoReserve, {{{NodeId{1}, kMiB * 2}, kMiB * 15}}),
            std::nullopt);
  EXPECT_EQ(why_no_room(needs, nodes, kNoReserve, {{{NodeId{1}, kOrdinary}, kMiB * 6}}),
            "node 1 has room for 9.0 MiB above its reserve beside 6.0 MiB promised to other moves, "
            "10.0 MiB are needed");
}

TEST(WhyNoRoomTest, AnUnknownNodeHasNone) {
  EXPECT_NE(why_no_room({{NodeId{1}, kOrdinary, kMiB, {}}}, {}, kNoReserve, {}), std::nullopt);
}

}  // namespace
}  // namespace vmnuma::migration
