// SPDX-License-Identifier: Apache-2.0
// Prints how good all predictors are on all families of loads. What it says is in
// tests/bench/README.md.
#include <iostream>

#include <gtest/gtest.h>

#include "placement/forecast/predictors.h"
#include "tests/support/forecast_trial.h"

namespace vmnuma::tests {
namespace {

constexpr std::int64_t kDays = 28;
constexpr std::int64_t kJudgedFrom = 21;
constexpr std::int64_t kVms = 6;

std::vector<GeneratedVm> all_loads() {
  std::vector<GeneratedVm> vms;
  for (const LoadFamily family : kLoadFamilies) {
    for (std::int64_t which = 0; which < kVms; ++which) {
      vms.push_back(generate_load(family, which, kDays));
    }
  }
  return vms;
}

TEST(ForecastFigures, AllPredictorsOnAllFamilies) {
  std::vector<Contestant> contestants = plain_contestants();
  const placement::HistogramPredictor histogram;
  contestants.push_back(
      {"histogram", [&](const placement::VmFacts& facts, const placement::KnownLoad& load) {
         return histogram.forecast(facts, load, load.past().last_minute());
       }});
  const TrialTable table = try_forecasts(all_loads(), contestants, kJudgedFrom);
  std::cout << to_text(table, contestants);
  for (const auto& [family, scores] : table) {
    EXPECT_LE(scores[3].loss, scores[1].loss) << "the histogram on " << name_of(family);
  }
}

}  // namespace
}  // namespace vmnuma::tests
