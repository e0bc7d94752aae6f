// SPDX-License-Identifier: Apache-2.0
/// Compares predictors on generated loads.
///
/// Every VM's load is processed minute by minute. From the first judged day on, each predictor
/// makes a forecast every ten minutes, which is scored against the load of each of the next ten
/// minutes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "placement/forecast/known_load.h"
#include "placement/forecast/score.h"
#include "tests/support/load_families.h"

namespace vmnuma::tests {

struct Contestant {
  std::string name;
  std::function<std::optional<Permille>(const VmFacts&, const KnownLoad&)> forecast;
};

/// Returns simple predictors: the last minute's load; the peak of the last hour; the exponentially
/// weighted mean of the last hour with a half-life of ten minutes.
[[nodiscard]] std::vector<Contestant> plain_contestants();

/// Scores by contestant, in their order, for each family.
using TrialTable = std::map<LoadFamily, std::vector<ForecastScore>>;

[[nodiscard]] TrialTable try_forecasts(const std::vector<GeneratedVm>& vms,
                                       const std::vector<Contestant>& contestants,
                                       std::int64_t first_judged_day);

/// Returns the scores of all families together.
[[nodiscard]] std::vector<ForecastScore> all_together(const TrialTable& table);

/// Formats the table for people: pinball loss in thousandths of the VM's full time, and coverage.
[[nodiscard]] std::string to_text(const TrialTable& table,
                                  const std::vector<Contestant>& contestants);

}  // namespace vmnuma::tests
