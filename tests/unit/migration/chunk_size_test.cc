// SPDX-License-Identifier: Apache-2.0
#include "migration/chunk_size.h"

#include <gtest/gtest.h>

namespace vmnuma::migration {
namespace {

constexpr Microseconds kTarget{5000};

TEST(ChunkSizeTest, StartsSmall) {
  EXPECT_EQ(ChunkSize().now(), kSmallestChunk);
}

TEST(ChunkSizeTest, DoublesAtMostWhenCallsAreFast) {
  ChunkSize chunk;
  chunk.learn(kMiB * 2, Microseconds{100}, kTarget);
  EXPECT_EQ(chunk.now(), kMiB * 4);
}

TEST(ChunkSizeTest, NeverExceedsTheLargestChunk) {
  ChunkSize chunk;
  for (int i = 0; i < 10; ++i) {
    chunk.learn(chunk.now(), Microseconds{1}, kTarget);
  }
  EXPECT_EQ(chunk.now(), kLargestChunk);
}

TEST(ChunkSizeTest, SettlesWhereACallTakesTheTarget) {
  // 2 us per 4 KiB: the target is reached at 2500 pages.
  ChunkSize chunk;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t pages = chunk.now().value / 4096;
    chunk.learn(chunk.now(), Microseconds{pages * 2}, kTarget);
  }
  EXPECT_EQ(chunk.now(), Bytes{2500 * 4096});
}

TEST(ChunkSizeTest, HalvesAtMostAndNeverFallsBelowTheSmallestChunk) {
  ChunkSize chunk;
  for (int i = 0; i < 3; ++i) {
    chunk.learn(chunk.now(), Microseconds{1}, kTarget);
  }
  ASSERT_EQ(chunk.now(), kMiB * 16);
  chunk.learn(kMiB * 16, Microseconds{1'000'000}, kTarget);
  EXPECT_EQ(chunk.now(), kMiB * 8);
  for (int i = 0; i < 10; ++i) {
    chunk.learn(kMiB * 16, Microseconds{1'000'000}, kTarget);
  }
  EXPECT_EQ(chunk.now(), kSmallestChunk);
}

TEST(ChunkSizeTest, ASmallCallNeverMakesItGrow) {
  ChunkSize chunk;
  chunk.learn(kMiB, Microseconds{1}, kTarget);
  EXPECT_EQ(chunk.now(), kSmallestChunk);
}

TEST(ChunkSizeTest, ASlowSmallCallMakesItShrink) {
  ChunkSize chunk;
  chunk.learn(kMiB * 2, Microseconds{1}, kTarget);
  ASSERT_EQ(chunk.now(), kMiB * 4);
  chunk.learn(kMiB, Microseconds{10'000}, kTarget);
  EXPECT_EQ(chunk.now(), kMiB * 2);
}

/// A call that takes `price_us` whatever its size, and so much more for each MiB.
void call(ChunkSize& chunk, std::int64_t price_us, std::int64_t us_per_mib) {
  const std::int64_t mib = chunk.now().value / kMiB.value;
  chunk.learn(chunk.now(), Microseconds{price_us + mib * us_per_mib}, kTarget);
}

TEST(ChunkSizeTest, GrowsWhereEvenTheSmallestCallTakesLong) {
  ChunkSize chunk;
  for (int i = 0; i < 10; ++i) {
    call(chunk, 80'000, 1000);
  }
  EXPECT_EQ(chunk.now(), kLargestChunk);
}

TEST(ChunkSizeTest, ThenSettlesWhereACallTakesTwiceTheSmallest) {
  ChunkSize chunk;
  for (int i = 0; i < 20; ++i) {
    call(chunk, 10'000, 5000);  // 20 ms for 2 MiB
  }
  EXPECT_NEAR(static_cast<double>(chunk.now().value) / static_cast<double>(kMiB.value), 6, 0.2);
}

TEST(ChunkSizeTest, KeepsTheTargetWhereTheSmallestCallTakesLessThanTwiceAsMuch) {
  ChunkSize chunk;
  for (int i = 0; i < 10; ++i) {
    call(chunk, 8000, 900);
  }
  EXPECT_EQ(chunk.now(), kSmallestChunk);
}

TEST(ChunkSizeTest, KeepsTheTargetWhereOneSmallCallTookLong) {
  ChunkSize chunk;
  for (int i = 0; i < 10; ++i) {
    call(chunk, 1000, 2000);
  }
  chunk.learn(kMiB, Microseconds{200'000}, kTarget);
  for (int i = 0; i < 3; ++i) {
    call(chunk, 1000, 2000);
    EXPECT_EQ(chunk.now(), kSmallestChunk);
  }
}

TEST(ChunkSizeTest, ShrinksAgainWhenAQuickCallShowsThatThePriceHasFallen) {
  ChunkSize chunk;
  for (int i = 0; i < 10; ++i) {
    call(chunk, 40'000, 1000);
  }
  chunk.learn(kMiB, Microseconds{500}, kTarget);
  for (int i = 0; i < 10; ++i) {
    call(chunk, 500, 1000);
  }
  EXPECT_LT(chunk.now(), kMiB * 6);
}

}  // namespace
}  // namespace vmnuma::migration
