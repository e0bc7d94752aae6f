// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/forecaster.h"

#include <gtest/gtest.h>

namespace vmnuma::stats {
namespace {

constexpr std::int64_t kBegin = 20'000 * LoadPast::kDay;

/// Says nothing but this.
Predictor fixed(Permille answer) {
  return {PredictorKind::kTrained, [answer](const VmFacts&, const KnownLoad&, std::int64_t) {
            return std::optional(answer);
          }};
}

class ForecasterTest : public ::testing::Test {
 protected:
  /// Minutes of a constant load, from kBegin + `from` on.
  void learn(std::int64_t from, std::int64_t count, std::int64_t load) {
    for (now_ = kBegin + from; now_ < kBegin + from + count; ++now_) {
      forecaster_.learn({now_, Permille{load}});
    }
    --now_;
  }
  PredictorRecord record(PredictorKind kind) {
    return forecaster_.forecast(now_)->records[static_cast<std::size_t>(kind)];
  }

  Forecaster forecaster_{{}, {histogram_predictor(), last_maximum_predictor()}};
  std::int64_t now_ = kBegin;
};

TEST_F(ForecasterTest, NoForecastIsMadeBeforeTheFirstMinute) {
  EXPECT_FALSE(forecaster_.forecast(kBegin).has_value());
}

TEST_F(ForecasterTest, FallsBackWhileTheHistogramIsYoungAndCountsIt) {
  learn(0, 10, 300);
  EXPECT_EQ(forecaster_.forecast(now_)->by, PredictorKind::kLastMaximum);
  EXPECT_EQ(forecaster_.forecast(now_)->p95, Permille{300});
  learn(10, 91, 300);
  EXPECT_EQ(forecaster_.forecast(now_)->by, PredictorKind::kHistogram);
  // One forecast at minutes 0, 10, ... 100; the histogram begins with the one at 60.
  EXPECT_EQ(record(PredictorKind::kLastMaximum).believed, 6);
  EXPECT_EQ(record(PredictorKind::kHistogram).believed, 5);
  EXPECT_EQ(record(PredictorKind::kTrained).believed, 0);
}

TEST_F(ForecasterTest, ScoresEveryPredictorByWhatCameAfter) {
  learn(0, LoadPast::kDay, 300);
  // The last maximum spoke first at minute 0, and its last forecast has nine minutes behind it.
  EXPECT_EQ(record(PredictorKind::kLastMaximum).score.values, LoadPast::kDay - 1);
  EXPECT_EQ(record(PredictorKind::kLastMaximum).score.loss, 0);
  EXPECT_EQ(record(PredictorKind::kLastMaximum).score.coverage(), Permille{1000});
  // The histogram was silent for an hour.
  EXPECT_EQ(record(PredictorKind::kHistogram).score.values,
            LoadPast::kDay - 1 - KnownLoad::kLeastMinutes);
  EXPECT_EQ(record(PredictorKind::kTrained).score.values, 0);
}

TEST_F(ForecasterTest, AWrongForecastIsSeenInTheScore) {
  Forecaster forecaster({}, {fixed(Permille{100}), histogram_predictor()});
  for (std::int64_t minute = kBegin; minute <= kBegin + kForecastMinutes; ++minute) {
    forecaster.learn({minute, Permille{120}});
  }
  const VmForecast forecast = *forecaster.forecast(kBegin + kForecastMinutes);
  EXPECT_EQ(forecast.by, PredictorKind::kTrained);
  EXPECT_EQ(forecast.records[0].score.coverage(), Permille{0});
  EXPECT_EQ(forecast.records[0].score.mean_loss(), 20 * 950);
}

TEST_F(ForecasterTest, ScoresAreThoseOfTheLastEightDays) {
  learn(0, 10 * LoadPast::kDay, 300);
  EXPECT_LE(record(PredictorKind::kLastMaximum).score.values, 8 * LoadPast::kDay);
  EXPECT_GE(record(PredictorKind::kLastMaximum).score.values, 7 * LoadPast::kDay);
}

TEST_F(ForecasterTest, AGapIsNoScore) {
  learn(0, 1, 300);
  learn(500, 9, 900);  // forecast before, but for other minutes
  EXPECT_EQ(record(PredictorKind::kLastMaximum).score.values, 9 - 1);
}

TEST_F(ForecasterTest, ForecastsAVmThatIsOffAsUsual) {
  learn(0, 500, 300);
  const VmForecast forecast = *forecaster_.forecast(kBegin + 999);
  EXPECT_NEAR(static_cast<double>(forecast.p95.value), 300, 5);
  EXPECT_LE(forecast.p5, forecast.p95);
}

TEST_F(ForecasterTest, IgnoresWhatIsNotLater) {
  learn(0, 500, 300);
  const VmForecast before = *forecaster_.forecast(now_);
  forecaster_.learn({now_, Permille{900}});
  EXPECT_EQ(forecaster_.forecast(now_)->p95, before.p95);
  EXPECT_EQ(forecaster_.forecast(now_)->records, before.records);
}

}  // namespace
}  // namespace vmnuma::stats
