// SPDX-License-Identifier: Apache-2.0
// Prints how good all predictors are on all families of loads and on what the lab recorded. What it
// says is in tests/bench/README.md.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include <gtest/gtest.h>

#include "placement/forecast/tree_model.h"
#include "stats/forecast/trainer.h"
#include "stats/forecast/training_set.h"
#include "tests/support/forecast_trial.h"
#include "tests/support/recorded_loads.h"

namespace vmnuma::tests {
namespace {

const std::filesystem::path kRecording =
    std::filesystem::path(VMNUMA_SOURCE_DIR) / "tests/fixtures/loads/lab.txt";
constexpr std::int64_t kDays = 28;
constexpr std::int64_t kJudgedFrom = 21;
constexpr std::int64_t kVms = 6;
constexpr std::size_t kMaximumOfHour = 1;  // of the plain contestants

/// Those from `first` on of each family.
std::vector<GeneratedVm> generated_loads(std::int64_t first) {
  std::vector<GeneratedVm> vms;
  for (const LoadFamily family : kValuesOf<LoadFamily>) {
    for (std::int64_t which = first; which < kVms; ++which) {
      vms.push_back(generate_load(family, which, kDays));
    }
  }
  return vms;
}

/// What the first `days` of the VMs teach.
void teach(stats::TrainingSet& set, const std::vector<GeneratedVm>& vms, std::int64_t days) {
  for (const GeneratedVm& vm : vms) {
    KnownLoad load;
    for (std::int64_t minute = 0; minute < days * LoadPast::kDay; ++minute) {
      set.add(vm.facts, load, vm.first_minute + minute, vm.load[static_cast<std::size_t>(minute)]);
    }
    set.next_vm();
  }
}

Predictor train(const stats::TrainingSet& set) {
  return trained_predictor({stats::train_trees(set.examples(), {}).value(), kFirstGeneratedMinute});
}

Contestant contestant(std::string name, Predictor predictor) {
  return {std::move(name),
          [predictor = std::move(predictor)](const VmFacts& vm, const KnownLoad& load) {
            return predictor.forecast(vm, load, load.past().last_minute());
          }};
}

void expect_no_more_lost_than_by_the_maximum(const TrialTable& table, std::size_t histogram) {
  for (const auto& [family, scores] : table) {
    EXPECT_LE(scores[histogram].loss, scores[kMaximumOfHour].loss) << name_of(family);
  }
}

/// At least 15 % below the best of the first `plain` ones, and 93 to 97 % covered.
void expect_to_be_worth_it(const ForecastScore& ours, const std::vector<ForecastScore>& all,
                           std::size_t plain) {
  const auto best_plain =
      std::min_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(plain),
                       [](const auto& a, const auto& b) { return a.loss < b.loss; });
  EXPECT_EQ(ours.values, best_plain->values);
  EXPECT_LE(ours.loss * 100, best_plain->loss * 85);
  EXPECT_GE(ours.coverage().value, 930);
  EXPECT_LE(ours.coverage().value, 970);
}

TEST(ForecastFigures, AllPredictorsOnAllFamilies) {
  const std::vector<GeneratedVm> vms = generated_loads(0);
  stats::TrainingSet set;
  teach(set, vms, kJudgedFrom);
  const Predictor trained = train(set);
  std::vector<Contestant> contestants = plain_contestants();
  const std::size_t plain = contestants.size();
  contestants.push_back(contestant("histogram", histogram_predictor()));
  contestants.push_back(contestant("trained", trained));
  const TrialTable table = try_forecasts(vms, contestants, kJudgedFrom);
  std::cout << to_text(table, contestants);
  expect_no_more_lost_than_by_the_maximum(table, plain);
  const std::vector<ForecastScore> all = all_together(table);
  expect_to_be_worth_it(all[plain + 1], all, plain);
}

/// By a model that knows other VMs only, and one that also knows the first days of these. Alone
/// they are less than `vmnuma forecast train` would learn from.
TEST(ForecastFigures, AllPredictorsOnTheLabsRecording) {
  constexpr std::int64_t kLabJudgedFrom = 2;  // its last day
  constexpr std::int64_t kNotInTheLab = 2;
  const std::vector<GeneratedVm> vms = recorded_loads(kRecording);
  stats::TrainingSet set;
  teach(set, generated_loads(kNotInTheLab), kJudgedFrom);
  const Predictor of_others = train(set);
  teach(set, vms, kLabJudgedFrom);
  const Predictor of_all = train(set);
  std::vector<Contestant> contestants = plain_contestants();
  const std::size_t plain = contestants.size();
  contestants.push_back(contestant("histogram", histogram_predictor()));
  contestants.push_back(contestant("of others", of_others));
  contestants.push_back(contestant("of all", of_all));
  const TrialTable table = try_forecasts(vms, contestants, kLabJudgedFrom);
  std::cout << to_text(table, contestants);
  expect_no_more_lost_than_by_the_maximum(table, plain);
  const std::vector<ForecastScore> all = all_together(table);
  expect_to_be_worth_it(all[plain + 1], all, plain);
  expect_to_be_worth_it(all[plain + 2], all, plain);
}

}  // namespace
}  // namespace vmnuma::tests
