// SPDX-License-Identifier: Apache-2.0
#include "tests/support/forecast_trial.h"

#include <algorithm>

#include <fmt/format.h>

namespace vmnuma::tests {

namespace {

std::optional<Permille> weighted_mean(const KnownLoad& load) {
  constexpr std::int64_t kOne = 1 << 20;
  constexpr std::int64_t kTenMinutes = 933;  // 1000 x 2^(-1/10)
  std::int64_t weight = kOne;
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  const std::int64_t now = load.past().last_minute();
  for (std::int64_t minute = now; minute > now - LoadPast::kMinutes; --minute) {
    if (const std::optional<Permille> one = load.past().at(minute)) {
      sum += one->value * weight;
      weights += weight;
    }
    weight = weight * kTenMinutes / 1000;
  }
  return weights > 0 ? std::optional(Permille{sum / weights}) : std::nullopt;
}

std::string cell(const ForecastScore& score) {
  return fmt::format("{:7.2f} {:5.1f}%", static_cast<double>(score.mean_loss()) / 1000,
                     static_cast<double>(score.coverage().value) / 10);
}

}  // namespace

std::vector<Contestant> plain_contestants() {
  return {{"last value",
           [](const VmFacts&, const KnownLoad& load) {
             return load.past().at(load.past().last_minute());
           }},
          {"max of hour",
           [](const VmFacts&, const KnownLoad& load) {
             const auto hour = load.past().up_to(load.past().last_minute(), LoadPast::kMinutes);
             return hour ? std::optional(hour->peak) : std::nullopt;
           }},
          {"EWMA", [](const VmFacts&, const KnownLoad& load) { return weighted_mean(load); }}};
}

TrialTable try_forecasts(const std::vector<GeneratedVm>& vms,
                         const std::vector<Contestant>& contestants,
                         std::int64_t first_judged_day) {
  TrialTable table;
  for (const GeneratedVm& vm : vms) {
    std::vector<ForecastScore>& scores = table[vm.family];
    scores.resize(contestants.size());
    KnownLoad known;
    const auto minutes = static_cast<std::int64_t>(vm.load.size());
    for (std::int64_t minute = 0; minute < minutes; ++minute) {
      known.add(vm.first_minute + minute, vm.load[static_cast<std::size_t>(minute)]);
      if (minute < first_judged_day * LoadPast::kDay || minute % kForecastMinutes != 0 ||
          minute + kForecastMinutes >= minutes) {
        continue;
      }
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        if (const std::optional<Permille> p95 = contestants[i].forecast(vm.facts, known)) {
          for (std::int64_t ahead = 1; ahead <= kForecastMinutes; ++ahead) {
            scores[i].add(*p95, vm.load[static_cast<std::size_t>(minute + ahead)]);
          }
        }
      }
    }
  }
  return table;
}

std::vector<ForecastScore> all_together(const TrialTable& table) {
  std::vector<ForecastScore> sums;
  for (const auto& [family, scores] : table) {
    sums.resize(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      sums[i] += scores[i];
    }
  }
  return sums;
}

std::string to_text(const TrialTable& table, const std::vector<Contestant>& contestants) {
  std::string text = fmt::format("{:10}", "family");
  for (const Contestant& contestant : contestants) {
    text += fmt::format("  {:>14}", contestant.name);
  }
  const auto line = [&](std::string_view name, const std::vector<ForecastScore>& scores) {
    text += fmt::format("\n{:10}", name);
    for (const ForecastScore& score : scores) {
      text += "  " + cell(score);
    }
  };
  for (const auto& [family, scores] : table) {
    line(name_of(family), scores);
  }
  line("all", all_together(table));
  return text + "\n";
}

}  // namespace vmnuma::tests
