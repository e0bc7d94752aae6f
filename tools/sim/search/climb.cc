// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/climb.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/sim/search/generator.h"
#include "tools/sim/search/shrink.h"
#include "tools/sim/search/trial.h"

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kWorthTelling = 1000;

}  // namespace

Random random_of_climb(std::uint64_t seed, std::int64_t number) {
  // random_for() is symmetric in its arguments, so numbers of climbs are made larger than any seed.
  constexpr std::uint64_t kNoSeed = std::uint64_t{1} << 63U;
  return random_for(seed, kNoSeed + static_cast<std::uint64_t>(number));
}

ClimbResult climb(std::uint64_t seed, std::int64_t number, std::string_view against,
                  const Effort& effort) {
  ClimbResult result;
  Random random = random_of_climb(seed, number);
  std::optional<Scenario> violating;
  const auto behind = [&](const Scenario& scenario, std::int64_t enough) {
    ++result.trials;
    const Trial trial = try_out(scenario, against, enough);
    if (!violating && !trial.ours.violations.empty()) {
      violating = scenario;
    }
    return trial.behind;
  };
  // No result is that far behind, so no peer is run: the run only checks for violations.
  constexpr std::int64_t kUnheardOf = INT64_MAX;
  Scenario worst = random_scenario(random);
  std::int64_t most = behind(worst, INT64_MIN);
  for (std::int64_t i = 1; i < effort.starts + effort.steps; ++i) {
    const bool starts = i < effort.starts;
    Scenario next = starts ? random_scenario(random) : mutated(worst, random);
    if (starts) {
      (void)behind(with_rules(next, random), kUnheardOf);
    }
    const std::int64_t its = behind(next, most);
    if (its >= most) {
      most = its;
      worst = std::move(next);
    }
  }
  if (most >= kWorthTelling) {
    const std::int64_t enough = std::max(kWorthTelling, most * 2 / 3);
    worst = shrunk(std::move(worst), effort.shrinks,
                   [&](const Scenario& scenario) { return behind(scenario, enough) >= enough; });
    result.weaknesses.push_back(make_weakness(number, std::move(worst), against));
  }
  if (violating) {
    std::string first;
    const auto violates = [&](const Scenario& scenario) {
      ++result.trials;
      const Trial trial = try_out(scenario, against, kUnheardOf);
      if (!trial.ours.violations.empty()) {
        first = trial.ours.violations.front();
      }
      return !trial.ours.violations.empty();
    };
    Scenario smallest = shrunk(std::move(*violating), effort.shrinks, violates);
    (void)violates(smallest);  // sets the violation's text
    result.weaknesses.push_back(make_violation(number, std::move(smallest), std::move(first)));
  }
  return result;
}

}  // namespace vmnuma::tools
