// SPDX-License-Identifier: Apache-2.0
#include "migration/pacing.h"

#include <gtest/gtest.h>

#include "tests/support/property.h"

namespace vmnuma::migration {
namespace {

constexpr VmId kVm{{1}};
constexpr VmId kOther{{2}};
constexpr Microseconds kStart{1'000'000'000};

Bytes bytes(const Allowance& allowance) {
  const auto* allowed = std::get_if<Bytes>(&allowance);
  return allowed == nullptr ? Bytes{} : *allowed;
}

Microseconds later(const Allowance& allowance) {
  const auto* at = std::get_if<Microseconds>(&allowance);
  return at == nullptr ? Microseconds{} : *at;
}

TEST(PacerTest, AllowsEverythingWithoutRates) {
  Pacer pacer;
  EXPECT_EQ(bytes(pacer.allow(kStart, kVm, kGiB)), kGiB);
  pacer.charge(kStart, kVm, kGiB * 100);
  EXPECT_EQ(bytes(pacer.allow(kStart, kVm, kMiB)), kMiB);
}

TEST(PacerTest, WaitsUntilASmallestChunkIsThere) {
  Pacer pacer;
  pacer.set_rates(kMiB * 100, {});
  pacer.charge(kStart, kVm, kSmallestBucket);
  // Empty; 2 MiB take 2/100 s.
  EXPECT_EQ(later(pacer.allow(kStart, kVm, kSmallestBucket)), kStart + Microseconds{20'000});
  EXPECT_EQ(bytes(pacer.allow(kStart + Microseconds{20'000}, kVm, kSmallestBucket)), kMiB * 2);
}

TEST(PacerTest, WaitsLessForLess) {
  Pacer pacer;
  pacer.set_rates(kMiB * 100, {});
  pacer.charge(kStart, kVm, kSmallestBucket);
  EXPECT_EQ(later(pacer.allow(kStart, kVm, kMiB)), kStart + Microseconds{10'000});
}

TEST(PacerTest, ADebtIsPaidOffFirst) {
  Pacer pacer;
  pacer.set_rates(kMiB * 100, {});
  pacer.charge(kStart, kVm, kGiB);  // one huge page: 1024 - 24 MiB of debt, then 2 MiB
  EXPECT_EQ(later(pacer.allow(kStart, kVm, kGiB)), kStart + Microseconds{10'020'000});
}

TEST(PacerTest, TheTighterOfTheTwoRatesCounts) {
  Pacer pacer;
  pacer.set_rates(kMiB * 1000, kMiB * 100);
  pacer.charge(kStart, kVm, kSmallestBucket);
  EXPECT_EQ(later(pacer.allow(kStart, kVm, kMiB)), kStart + Microseconds{10'000});
  EXPECT_EQ(bytes(pacer.allow(kStart, kOther, kMiB)), kMiB);
}

TEST(PacerTest, OneVmCannotUseUpAnothersRateButTheHosts) {
  Pacer pacer;
  pacer.set_rates(kMiB * 100, kMiB * 1000);
  pacer.charge(kStart, kVm, kSmallestBucket);
  EXPECT_EQ(later(pacer.allow(kStart, kOther, kMiB)), kStart + Microseconds{10'000});
}

TEST(PacerTest, NothingIsAllowedUnderMemoryPressure) {
  Pacer pacer;
  pacer.set_memory_pressure(true);
  EXPECT_EQ(later(pacer.allow(kStart, kVm, kMiB)), kStart + Microseconds{1'000'000});
  pacer.set_memory_pressure(false);
  EXPECT_EQ(bytes(pacer.allow(kStart, kVm, kMiB)), kMiB);
}

TEST(PacerTest, ANewRateCountsFromNowOn) {
  Pacer pacer;
  pacer.set_rates(kMiB * 100, {});
  pacer.charge(kStart, kVm, kSmallestBucket);
  pacer.set_rates(kMiB * 10, {});
  EXPECT_EQ(later(pacer.allow(kStart, kVm, kMiB)), kStart + Microseconds{100'000});
  pacer.set_rates({}, {});
  EXPECT_EQ(bytes(pacer.allow(kStart, kVm, kGiB)), kGiB);
}

TEST(PacerTest, AForgottenVmStartsAfresh) {
  Pacer pacer;
  pacer.set_rates({}, kMiB * 100);
  pacer.charge(kStart, kVm, kGiB);
  pacer.forget(kVm);
  EXPECT_EQ(bytes(pacer.allow(kStart, kVm, kMiB)), kMiB);
}

TEST(TokenBucketTest, TimeGoingBackAddsNothing) {
  TokenBucket bucket(kMiB * 100);
  bucket.take(kStart, kSmallestBucket);
  EXPECT_EQ(bucket.available(kStart - Microseconds{1'000'000}), Bytes{});
}

TEST(TokenBucketTest, ALongSleepFillsItOnceOnly) {
  TokenBucket bucket(kMiB * 100);
  bucket.take(kStart, kGiB);
  // A month: the bucket holds max(24 MiB, a tenth of a second's rate).
  EXPECT_EQ(bucket.available(kStart + Microseconds{2'600'000'000'000}), kSmallestBucket);
}

TEST(TokenBucketTest, TheHighestRateDoesNotOverflow) {
  const Bytes rate = Bytes{4096} * 8'000'000;
  TokenBucket bucket(rate);
  bucket.take(kStart, rate * 100);
  EXPECT_LT(bucket.available(kStart + Microseconds{99'000'000}), Bytes{});
  EXPECT_EQ(bucket.available(kStart + Microseconds{101'000'000}), rate / 10);
}

RC_GTEST_PROP(PacerTest, NeverMoreThanRateTimesTimePlusOneBucketAndOneChunk, ()) {
  const Bytes rate{*rc::gen::inRange<std::int64_t>(4096, std::int64_t{4096} * 8'000'000)};
  const auto waits =
      *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 2'000'000));
  Pacer pacer;
  pacer.set_rates(rate, {});
  Microseconds now = kStart;
  Bytes moved;
  for (const std::int64_t wait : waits) {
    now += Microseconds{wait};
    const Bytes chunk{*rc::gen::inRange<std::int64_t>(4096, kSmallestBucket.value)};
    const Bytes allowed = bytes(pacer.allow(now, kVm, chunk));
    RC_ASSERT(allowed <= chunk);
    RC_ASSERT(allowed == Bytes{} || allowed >= std::min(chunk, kSmallestChunk));
    pacer.charge(now, kVm, allowed);
    moved += allowed;
  }
  const std::int64_t passed = (now - kStart).value;
  const Bytes gained{rate.value / 1'000'000 * passed + rate.value % 1'000'000 * passed / 1'000'000};
  RC_ASSERT(moved <= gained + std::max(kSmallestBucket, rate / 10) + kSmallestBucket);
}

RC_GTEST_PROP(PacerTest, AWaitEndsWhenTheChunkIsThereAndNotLater, ()) {
  const Bytes rate{*rc::gen::inRange<std::int64_t>(4096, std::int64_t{4096} * 8'000'000)};
  const Bytes debt{*rc::gen::inRange<std::int64_t>(0, kGiB.value)};
  Pacer pacer;
  pacer.set_rates(rate, {});
  pacer.charge(kStart, kVm, std::max(kSmallestBucket, rate / 10) + debt);
  const Microseconds at = later(pacer.allow(kStart, kVm, kMiB));
  RC_ASSERT(at > kStart);
  Pacer early = pacer;
  RC_ASSERT(bytes(early.allow(at - Microseconds{1}, kVm, kMiB)) == Bytes{});
  RC_ASSERT(bytes(pacer.allow(at, kVm, kMiB)) == kMiB);
}

}  // namespace
}  // namespace vmnuma::migration
