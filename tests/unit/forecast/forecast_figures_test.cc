// SPDX-License-Identifier: Apache-2.0
// Prints how good all predictors are on all families of loads. What it says is in
// tests/bench/README.md.
#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>

#include "placement/forecast/tree_model.h"
#include "stats/forecast/trainer.h"
#include "stats/forecast/training_set.h"
#include "tests/support/forecast_trial.h"

namespace vmnuma::tests {
namespace {

using placement::ForecastScore;
using placement::KnownLoad;
using placement::LoadPast;
using placement::VmFacts;

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

/// Of the first three weeks.
placement::TreeModel train(const std::vector<GeneratedVm>& vms) {
  stats::TrainingSet set;
  for (const GeneratedVm& vm : vms) {
    KnownLoad load;
    for (std::int64_t minute = 0; minute < kJudgedFrom * LoadPast::kDay; ++minute) {
      set.add(vm.facts, load, vm.first_minute + minute, vm.load[static_cast<std::size_t>(minute)]);
    }
    set.next_vm();
  }
  return {stats::train_trees(set.examples(), {}).value(),
          vms.front().first_minute + kJudgedFrom * LoadPast::kDay};
}

TEST(ForecastFigures, AllPredictorsOnAllFamilies) {
  const std::vector<GeneratedVm> vms = all_loads();
  const placement::HistogramPredictor histogram;
  const placement::TrainedPredictor trained(train(vms));
  const auto contestant = [](std::string name, const placement::Predictor& predictor) {
    return Contestant{std::move(name), [&predictor](const VmFacts& vm, const KnownLoad& load) {
                        return predictor.forecast(vm, load, load.past().last_minute());
                      }};
  };
  std::vector<Contestant> contestants = plain_contestants();
  const std::size_t plain = contestants.size();
  contestants.push_back(contestant("histogram", histogram));
  contestants.push_back(contestant("trained", trained));
  const TrialTable table = try_forecasts(vms, contestants, kJudgedFrom);
  std::cout << to_text(table, contestants);

  constexpr std::size_t kMaximumOfHour = 1;
  for (const auto& [family, scores] : table) {
    EXPECT_LE(scores[plain].loss, scores[kMaximumOfHour].loss) << name_of(family);
  }
  const std::vector<ForecastScore> all = all_together(table);
  const auto best_plain =
      std::min_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(plain),
                       [](const auto& a, const auto& b) { return a.loss < b.loss; });
  const ForecastScore& ours = all[plain + 1];
  EXPECT_EQ(ours.values, best_plain->values);
  EXPECT_LE(ours.loss * 100, best_plain->loss * 85);
  EXPECT_GE(ours.coverage().value, 930);
  EXPECT_LE(ours.coverage().value, 970);
}

}  // namespace
}  // namespace vmnuma::tests
