// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/counted_stall.h"

#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kReadNs = 90;

/// Ten seconds of run time.
MemoryReads reads_per_second(std::int64_t count) {
  return {.count = count * 10, .counted = {10 * kSecond}, .ran = {10 * kSecond}};
}

TEST(CountedStallTest, ReadsTakeHalfTheirTimeEachBecauseTwoAreUnderWayAtOnce) {
  // 4 million reads a second of 90 ns each are 360 ms of it.
  EXPECT_EQ(stall_from(reads_per_second(4'000'000), kReadNs), Permille{180});
  EXPECT_EQ(stall_from(reads_per_second(4'000'000), 2 * kReadNs), Permille{360});
  EXPECT_EQ(stall_from(reads_per_second(0), kReadNs), Permille{0});
  EXPECT_EQ(stall_from(reads_per_second(1'000'000'000), kReadNs), Permille{1000});
}

TEST(CountedStallTest, NoVmWaitsForLongerThanItsCoresAreStalled) {
  MemoryReads reads = reads_per_second(10'000'000);  // 450 thousandths
  reads.cycles = 1000;
  reads.stalled_cycles = 700;
  EXPECT_EQ(stall_from(reads, kReadNs), Permille{450});
  reads.stalled_cycles = 200;
  EXPECT_EQ(stall_from(reads, kReadNs), Permille{200});
}

TEST(CountedStallTest, AVmThatHardlyRanSaysNothing) {
  MemoryReads reads{.count = 4'000'000, .counted = {kSecond}, .ran = {kSecond}};
  EXPECT_TRUE(stall_from(reads, kReadNs));
  reads.counted = reads.ran = CpuTime{kSecond - 1};
  EXPECT_FALSE(stall_from(reads, kReadNs));
}

TEST(CountedStallTest, CountersThatOthersHadMostOfTheTimeSayNothing) {
  MemoryReads reads = reads_per_second(4'000'000);
  reads.ran = {40 * kSecond};
  EXPECT_EQ(stall_from(reads, kReadNs), Permille{180});  // of what was counted
  reads.ran = {41 * kSecond};
  EXPECT_FALSE(stall_from(reads, kReadNs));
}

/// A reading a minute.
class CountedStallOverTimeTest : public testing::Test {
 protected:
  void read(std::int64_t per_second) {
    now_.value += kMinute;
    stall_.take_in(reads_per_second(per_second), kReadNs, now_);
  }
  [[nodiscard]] std::optional<Permille> share() const { return stall_.at(now_); }

  CountedStall stall_;
  Microseconds now_;
};

TEST_F(CountedStallOverTimeTest, IsKnownAfterSomeReadingsAndAsLongAsNewOnesCome) {
  EXPECT_FALSE(share());
  read(4'000'000);
  read(4'000'000);
  EXPECT_FALSE(share());
  read(4'000'000);
  EXPECT_EQ(share(), Permille{180});
  now_ += kFreshFor;
  EXPECT_EQ(share(), Permille{180});
  now_ += Microseconds{1};
  EXPECT_FALSE(share());
  read(8'000'000);  // begins anew
  EXPECT_FALSE(share());
  read(8'000'000);
  read(8'000'000);
  EXPECT_EQ(share(), Permille{360});
}

TEST_F(CountedStallOverTimeTest, MovesSlowlyAndStaysWhereTheLoadStays) {
  for (int i = 0; i < 3; ++i) {
    read(4'000'000);
  }
  read(12'000'000);  // 540 in place of 180
  EXPECT_GT(share(), Permille{180});
  EXPECT_LT(share(), Permille{180 + 360 / 8});
  for (int i = 0; i < 60; ++i) {
    read(12'000'000);
  }
  EXPECT_EQ(share(), Permille{540});
  read(12'000'000);
  EXPECT_EQ(share(), Permille{540});
}

TEST_F(CountedStallOverTimeTest, WhatIsDoubtfulChangesNothing) {
  for (int i = 0; i < 3; ++i) {
    read(4'000'000);
  }
  now_.value += kMinute;
  stall_.take_in({.count = 1'000'000'000, .counted = {kSecond / 2}, .ran = {kSecond / 2}}, kReadNs,
                 now_);
  EXPECT_EQ(share(), Permille{180});
}

}  // namespace
}  // namespace vmnuma::balancer
