// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/decaying_histogram.h"

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

TEST(DecayingHistogramTest, IsSilentWhileEmpty) {
  const DecayingHistogram histogram(0, 1000, 5);
  EXPECT_EQ(histogram.quantile(Permille{950}), std::nullopt);
}

TEST(DecayingHistogramTest, GivesAnOnlyValueWithinItsBucket) {
  DecayingHistogram histogram(0, 1000, 5);
  histogram.add(400, 7);
  EXPECT_EQ(histogram.quantile(Permille{0}), 400);
  EXPECT_EQ(histogram.quantile(Permille{1000}), 404);
}

TEST(DecayingHistogramTest, CountsEqualTimesAlike) {
  DecayingHistogram histogram(0, 1000, 1);
  for (std::int64_t value = 0; value < 100; ++value) {
    histogram.add(value, 1'000'000);
  }
  EXPECT_EQ(histogram.quantile(Permille{950}), 94);  // 95 of 100 are at most 94
  EXPECT_EQ(histogram.quantile(Permille{500}), 49);
}

TEST(DecayingHistogramTest, HalvesAValueInAHalfLife) {
  DecayingHistogram histogram(0, 1000, 1);
  for (int i = 0; i < 2; ++i) {
    histogram.add(100, 5);
  }
  histogram.add(500, 5 + DecayingHistogram::kHalfLifeMinutes);  // weighs as much as both
  EXPECT_EQ(histogram.quantile(Permille{500}), 100);
  EXPECT_EQ(histogram.quantile(Permille{501}), 500);
}

TEST(DecayingHistogramTest, ForgetsWhatIsLongAgo) {
  DecayingHistogram histogram(0, 1000, 1);
  for (int i = 0; i < 1000; ++i) {
    histogram.add(900, 5);
  }
  histogram.add(100, 5 + 30 * DecayingHistogram::kHalfLifeMinutes);
  EXPECT_EQ(histogram.quantile(Permille{999}), 100);
  histogram.add(200,
                5 + 1'000'000 * DecayingHistogram::kHalfLifeMinutes);  // nothing is left of both
  EXPECT_EQ(histogram.quantile(Permille{0}), 200);
}

TEST(DecayingHistogramTest, TakesALateValueForWhatItWeighsNow) {
  DecayingHistogram histogram(0, 1000, 1);
  histogram.add(500, 10 * DecayingHistogram::kHalfLifeMinutes);
  histogram.add(100, 9 * DecayingHistogram::kHalfLifeMinutes);
  histogram.add(100, 9 * DecayingHistogram::kHalfLifeMinutes);
  EXPECT_EQ(histogram.quantile(Permille{500}), 100);
  EXPECT_EQ(histogram.quantile(Permille{501}), 500);
  histogram.add(100, -90 * DecayingHistogram::kHalfLifeMinutes);  // weighs nothing
  EXPECT_EQ(histogram.quantile(Permille{501}), 500);
}

TEST(DecayingHistogramTest, CountsWhatIsOutsideAsTheNearestInside) {
  DecayingHistogram histogram(-10, 10, 1);
  histogram.add(-500, 0);
  EXPECT_EQ(histogram.quantile(Permille{1000}), -10);
  histogram.add(500, 0);
  EXPECT_EQ(histogram.quantile(Permille{1000}), 10);
}

}  // namespace
}  // namespace vmnuma
