// SPDX-License-Identifier: Apache-2.0
/// What placement/forecast promises, tried on any loads.
#include <algorithm>
#include <vector>

#include "placement/forecast/decaying_histogram.h"
#include "placement/forecast/known_load.h"
#include "placement/forecast/score.h"
#include "tests/support/property.h"

namespace vmnuma {
namespace {

struct Seen {
  std::int64_t value;
  std::int64_t minute;
};

std::vector<Seen> any_values(std::int64_t most_minute) {
  const auto numbers =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(
          rc::gen::inRange(0, 1001), rc::gen::inRange(0, static_cast<int>(most_minute)))));
  std::vector<Seen> seen;
  for (const auto& [value, minute] : numbers) {
    seen.push_back({value, minute});
  }
  return seen;
}

DecayingHistogram histogram_of(const std::vector<Seen>& seen, std::int64_t later = 0) {
  DecayingHistogram histogram(0, 1000, 5);
  for (const Seen& one : seen) {
    histogram.add(one.value, one.minute + later);
  }
  return histogram;
}

RC_GTEST_PROP(DecayingHistogramProperty, QuantilesGrowAndStayAmongTheValues, ()) {
  const std::vector<Seen> seen = any_values(10 * DecayingHistogram::kHalfLifeMinutes);
  const DecayingHistogram histogram = histogram_of(seen);
  const auto [least, most] = std::minmax_element(
      seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.value < b.value; });
  std::int64_t before = 0;
  for (std::int64_t share = 0; share <= 1000; share += 50) {
    const std::int64_t value = *histogram.quantile(Permille{share});
    RC_ASSERT(value >= before);
    RC_ASSERT(value >= least->value - 4 && value <= most->value + 4);
    before = value;
  }
}

RC_GTEST_PROP(DecayingHistogramProperty, TheOrderWithinAMinuteDoesNotMatter, ()) {
  std::vector<Seen> seen = any_values(1);
  const DecayingHistogram histogram = histogram_of(seen);
  std::reverse(seen.begin(), seen.end());
  const DecayingHistogram reversed = histogram_of(seen);
  for (std::int64_t share = 0; share <= 1000; share += 50) {
    RC_ASSERT(histogram.quantile(Permille{share}) == reversed.quantile(Permille{share}));
  }
}

RC_GTEST_PROP(DecayingHistogramProperty, HalfLivesLaterAllIsTheSame, ()) {
  const std::vector<Seen> seen = any_values(40 * DecayingHistogram::kHalfLifeMinutes);
  const std::int64_t later =
      *rc::gen::inRange<std::int64_t>(0, 1000) * DecayingHistogram::kHalfLifeMinutes;
  const DecayingHistogram now = histogram_of(seen);
  const DecayingHistogram then = histogram_of(seen, later);
  for (std::int64_t share = 0; share <= 1000; share += 50) {
    RC_ASSERT(now.quantile(Permille{share}) == then.quantile(Permille{share}));
  }
}

KnownLoad any_load() {
  KnownLoad load;
  std::int64_t minute = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  const auto values = *rc::gen::container<std::vector<int>>(500, rc::gen::inRange(-100, 1200));
  for (const int value : values) {
    minute += value % 97 == 0 ? 200 : 1;
    load.add(minute, Permille{value});
  }
  return load;
}

RC_GTEST_PROP(KnownLoadProperty, ForecastsLieWithinTheVmsFullTimeAndGrowWithTheShare, ()) {
  const KnownLoad load = any_load();
  const std::int64_t now = load.past().last_minute() + *rc::gen::inRange<std::int64_t>(0, 30);
  Permille before;
  for (const std::int64_t share : {0, 50, 500, 950, 1000}) {
    const std::optional<Permille> forecast = load.quantile(now, Permille{share});
    RC_ASSERT(forecast.has_value());
    RC_ASSERT(*forecast >= before && *forecast <= Permille{1000});
    before = *forecast;
  }
}

RC_GTEST_PROP(ForecastScoreProperty, ThePercentileHasTheLeastLossOfAllConstants, ()) {
  auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1001)));
  std::sort(values.begin(), values.end());
  const std::size_t rank = (values.size() * 95 + 99) / 100;
  const auto loss_of = [&](std::int64_t forecast) {
    ForecastScore score;
    for (const int value : values) {
      score.add(Permille{forecast}, Permille{value});
    }
    return score.loss;
  };
  const std::int64_t best = loss_of(values[rank - 1]);
  RC_ASSERT(best >= 0);
  for (std::int64_t forecast = 0; forecast <= 1000; forecast += 50) {
    RC_ASSERT(best <= loss_of(forecast));
  }
}

}  // namespace
}  // namespace vmnuma
