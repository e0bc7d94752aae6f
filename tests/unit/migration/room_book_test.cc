// SPDX-License-Identifier: Apache-2.0
#include "migration/room_book.h"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "migration/pacing.h"
#include "tests/support/property.h"
#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

using testing::IsEmpty;
using testing::Optional;

constexpr NodeId kHere{0};
constexpr NodeId kThere{1};
constexpr Microseconds kNow{5'000'000};
constexpr Permille kReserve{20};

RoomBook::Holder holder(std::int64_t action, std::uint8_t vm = 1) {
  return {action, VmId{{vm}}};
}

/// A node of 1000 MiB of which that much is above the reserve.
NodeMemory with_room(Bytes room) {
  return {.total = kMiB * 1000, .available = room + kMiB * 20, .pools = {{kBlock, 3}}};
}

class RoomBookTest : public testing::Test {
 protected:
  void read(Bytes room) { book_.record_reading(kThere, with_room(room), kReserve, kNow); }
  std::optional<Bytes> room_for(const RoomBook::Holder& who) {
    return book_.room_for(who, kThere, kOrdinary, kBlock, kNow);
  }
  void move(const RoomBook::Holder& who, Bytes size) {
    book_.grant(who, kThere, kOrdinary, size);
    book_.settle(who, kThere, kOrdinary, size);
    book_.arrived(who, kHere, kThere, kOrdinary, size);
  }

  RoomBook book_;
};

TEST_F(RoomBookTest, ANodeThatWasNotReadHasToBe) {
  EXPECT_EQ(room_for(holder(1)), std::nullopt);
}

TEST_F(RoomBookTest, AReadingCountsForAllTransfers) {
  read(kMiB * 50);
  EXPECT_THAT(room_for(holder(1)), Optional(kMiB * 50));
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 50));
  move(holder(1), kMiB * 30);
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 20));
}

TEST_F(RoomBookTest, WhatIsGrantedIsOthersRoomNoMoreBeforeItIsMoved) {
  read(kMiB * 50);
  book_.grant(holder(1), kThere, kOrdinary, kMiB * 30);
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 20));
  EXPECT_THAT(room_for(holder(1)), Optional(kMiB * 50));
  // Another reading does not see it yet.
  read(kMiB * 50);
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 20));
}

TEST_F(RoomBookTest, AReadingIsGoodForASecond) {
  read(kMiB * 50);
  EXPECT_NE(book_.room_for(holder(1), kThere, kOrdinary, kBlock, kNow + Microseconds{1'000'000}),
            std::nullopt);
  EXPECT_EQ(book_.room_for(holder(1), kThere, kOrdinary, kBlock, kNow + Microseconds{1'000'001}),
            std::nullopt);
}

TEST_F(RoomBookTest, AReadingIsGoodForOneLargeChunkOrOneHugePage) {
  read(kMiB * 500);
  EXPECT_NE(book_.room_for(holder(1), kThere, kOrdinary, kGiB, kNow), std::nullopt);
  move(holder(1), kLargestChunk - kBlock);
  EXPECT_NE(room_for(holder(2)), std::nullopt);
  move(holder(1), kBlock);
  EXPECT_EQ(room_for(holder(2)), std::nullopt);
}

TEST_F(RoomBookTest, ADoubtfulReadingIsNoLongerUsed) {
  read(kMiB * 500);
  book_.doubt(kThere);
  EXPECT_EQ(room_for(holder(1)), std::nullopt);
}

TEST_F(RoomBookTest, APoolHasItsFreePagesAndNoReserve) {
  read(kMiB * 50);
  EXPECT_THAT(book_.room_for(holder(1), kThere, kBlock, kBlock, kNow), Optional(kBlock * 3));
  EXPECT_THAT(book_.room_for(holder(1), kThere, kGiB, kGiB, kNow), Optional(Bytes{}));
  book_.grant(holder(2), kThere, kBlock, kBlock);
  EXPECT_THAT(book_.room_for(holder(1), kThere, kBlock, kBlock, kNow), Optional(kBlock * 2));
  EXPECT_THAT(room_for(holder(1)), Optional(kMiB * 50));
}

TEST_F(RoomBookTest, WhatIsPromisedToOneIsNotForOthersUntilItIsThere) {
  read(kMiB * 50);
  book_.promise(holder(1), {{kThere, kOrdinary, kMiB * 40, {}}});
  EXPECT_THAT(room_for(holder(1)), Optional(kMiB * 50));
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 10));
  move(holder(1), kMiB * 30);
  EXPECT_THAT(room_for(holder(1)), Optional(kMiB * 20));
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 10));
  book_.release(holder(1));
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 20));
}

TEST_F(RoomBookTest, APromiseIsWhatComesLessWhatLeavesTheNodeInTheSameAction) {
  read(kMiB * 50);
  book_.promise(holder(1, 1), {{kThere, kOrdinary, kMiB * 40, {}}});
  book_.promise(holder(1, 2), {{kThere, kOrdinary, {}, kMiB * 30}});
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 40));
  // Half of the second VM has left, and what it left is the first one's.
  book_.arrived(holder(1, 2), kThere, kHere, kOrdinary, kMiB * 15);
  read(kMiB * 65);
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 40));
  book_.release(1);
  EXPECT_THAT(room_for(holder(2)), Optional(kMiB * 65));
}

TEST_F(RoomBookTest, TellsWhatOtherActionsClaim) {
  EXPECT_THAT(book_.promised_to_others(1), IsEmpty());
  book_.promise(holder(1), {{kThere, kOrdinary, kMiB * 40, {}}});
  book_.promise(holder(2), {{kThere, kOrdinary, kMiB * 5, {}}});
  book_.grant(holder(3), kThere, kOrdinary, kMiB);
  EXPECT_EQ(book_.promised_to_others(1), (PromisedRoom{{{kThere, kOrdinary}, kMiB * 6}}));
  EXPECT_EQ(book_.promised_to_others(4), (PromisedRoom{{{kThere, kOrdinary}, kMiB * 46}}));
}

RC_GTEST_PROP(RoomBookProperty, WhateverTheOrderOfLooksAndMovesTheReserveStays, ()) {
  RoomBook book;
  Bytes room = kMiB * *rc::gen::inRange(1, 300);
  std::array<Bytes, 4> granted{};
  std::array<Bytes, 4> promised{};
  Microseconds now = kNow;
  for (std::size_t i = 0; i < promised.size(); ++i) {
    const Bytes wanted = kMiB * *rc::gen::inRange(0, 60);
    const auto taken = book.promised_to_others(static_cast<std::int64_t>(i));
    const auto others = taken.find({kThere, kOrdinary});
    if (wanted > Bytes{} && wanted <= room - (others == taken.end() ? Bytes{} : others->second)) {
      promised[i] = wanted;
      book.promise(holder(static_cast<std::int64_t>(i)), {{kThere, kOrdinary, wanted, {}}});
    }
  }
  for (int step = 0; step < 60; ++step) {
    const auto i = *rc::gen::inRange<std::size_t>(0, granted.size());
    const RoomBook::Holder who = holder(static_cast<std::int64_t>(i));
    now += Microseconds{*rc::gen::inRange(0, 400'000)};
    if (granted[i] > Bytes{}) {
      room -= granted[i];
      RC_ASSERT(room >= Bytes{});
      promised[i] = std::max(Bytes{}, promised[i] - granted[i]);
      book.settle(who, kThere, kOrdinary, granted[i]);
      book.arrived(who, kHere, kThere, kOrdinary, granted[i]);
      granted[i] = {};
      continue;
    }
    auto left = book.room_for(who, kThere, kOrdinary, kMiB, now);
    if (!left) {
      book.record_reading(kThere, with_room(room), kReserve, now);
      left = book.room_for(who, kThere, kOrdinary, kMiB, now);
    }
    RC_ASSERT(left.has_value());
    RC_ASSERT(*left >= promised[i]);  // what was promised is there
    granted[i] = std::min(*left, kMiB * *rc::gen::inRange(1, 64));
    if (granted[i] > Bytes{}) {
      book.grant(who, kThere, kOrdinary, granted[i]);
    }
  }
}

}  // namespace
}  // namespace vmnuma::migration
