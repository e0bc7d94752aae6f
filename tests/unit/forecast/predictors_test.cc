// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/predictors.h"

#include <gtest/gtest.h>

namespace vmnuma {
namespace {

Predictor fixed(std::optional<Permille> answer) {
  return {PredictorKind::kTrained,
          [answer](const VmFacts&, const KnownLoad&, std::int64_t) { return answer; }};
}

KnownLoad minutes(std::int64_t count) {
  KnownLoad load;
  for (std::int64_t minute = 0; minute < count; ++minute) {
    load.add(1000 + minute, Permille{minute == 3 ? 700 : 200});
  }
  return load;
}

TEST(PredictorsTest, TheFirstThatAnswersIsBelieved) {
  const Predictor silent = fixed(std::nullopt);
  const Predictor trained = fixed(Permille{123});
  const Predictor histogram = histogram_predictor();
  const Predictor last = last_maximum_predictor();
  const KnownLoad day = minutes(1440);
  const auto by = [&](const std::vector<Predictor>& chain, const KnownLoad& load) {
    return first_forecast(chain, {}, load, 3000)->by;
  };
  EXPECT_EQ(by({trained, histogram, last}, day), PredictorKind::kTrained);
  EXPECT_EQ(by({silent, histogram, last}, day), PredictorKind::kHistogram);
  EXPECT_EQ(by({silent, histogram, last}, minutes(10)), PredictorKind::kLastMaximum);
}

TEST(PredictorsTest, NoPredictorAnswersWithoutAnyMinute) {
  EXPECT_EQ(
      first_forecast({histogram_predictor(), last_maximum_predictor()}, {}, KnownLoad(), 3000),
      std::nullopt);
  EXPECT_EQ(first_forecast({}, {}, minutes(1440), 3000), std::nullopt);
}

TEST(PredictorsTest, TheLastMaximumIsThatOfTheLastHourSeen) {
  const Predictor last = last_maximum_predictor();
  EXPECT_EQ(last.forecast({}, minutes(10), 5000), Permille{700});
  EXPECT_EQ(last.forecast({}, minutes(64), 5000), Permille{200});
}

TEST(ForecastScoreTest, CountsShortfallsNineteenTimesAsMuch) {
  EXPECT_EQ(pinball_loss(Permille{100}, Permille{120}), 20 * 950);
  EXPECT_EQ(pinball_loss(Permille{120}, Permille{100}), 20 * 50);
  EXPECT_EQ(pinball_loss(Permille{120}, Permille{120}), 0);
  ForecastScore score;
  EXPECT_EQ(score.coverage(), Permille{1000});
  EXPECT_EQ(score.mean_loss(), 0);
  score.add(Permille{100}, Permille{120});
  score.add(Permille{120}, Permille{120});
  EXPECT_EQ(score.coverage(), Permille{500});
  EXPECT_EQ(score.mean_loss(), 9500);
}

}  // namespace
}  // namespace vmnuma
