// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/memory_pressure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tests {
namespace {

using balancer::Effects;
using balancer::MemoryPressure;
using testing::SizeIs;

constexpr std::int64_t kSecond_us = 1'000'000;

class MemoryPressureTest : public testing::Test {
 protected:
  /// One second later, with tasks waiting for that share of the time.
  Effects wait(std::int64_t pct) { return read(Permille{pct * 10}, std::nullopt); }
  Effects reclaim(std::int64_t total) { return read(std::nullopt, total); }
  Effects read(std::optional<Permille> waiting, std::optional<std::int64_t> reclaims) {
    Sample sample;
    sample.taken_at = {++seconds_ * kSecond_us};
    sample.memory_pressure = waiting;
    sample.direct_reclaims = reclaims;
    Effects effects;
    pressure_.sampled(sample, options_, effects);
    return effects;
  }

  Options options_;
  MemoryPressure pressure_;
  std::int64_t seconds_ = 0;
};

TEST_F(MemoryPressureTest, IsHighAboveTheLimitAndOverAtHalfOfIt) {
  options_.page_mig_pressure_max = 10;
  EXPECT_EQ(wait(10).memory_pressure, std::nullopt);
  EXPECT_EQ(wait(11).memory_pressure, true);
  EXPECT_EQ(wait(6).memory_pressure, std::nullopt);
  EXPECT_TRUE(pressure_.is_high());
  EXPECT_EQ(wait(5).memory_pressure, false);
}

TEST_F(MemoryPressureTest, CountsReclaimsBySecond) {
  options_.page_mig_reclaim_max = 100;
  EXPECT_EQ(reclaim(1'000'000).memory_pressure, std::nullopt) << "the first reading has no rate";
  EXPECT_EQ(reclaim(1'000'100).memory_pressure, std::nullopt);
  EXPECT_EQ(reclaim(1'000'201).memory_pressure, true);
  EXPECT_EQ(read(std::nullopt, std::nullopt).memory_pressure, false) << "no reading, no pressure";
}

TEST_F(MemoryPressureTest, LogsOnlyChanges) {
  options_.page_mig_pressure_max = 10;
  EXPECT_THAT(wait(50).log, SizeIs(1));
  EXPECT_THAT(wait(60).log, SizeIs(0));
  EXPECT_THAT(wait(0).log, SizeIs(1));
  EXPECT_THAT(wait(0).log, SizeIs(0));
}

}  // namespace
}  // namespace vmnuma::tests
