// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/checks/predictions.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace vmnuma::tools {

bool is_worth_counting(const PredictedAction& action) {
  return action.predicted > kWorthCounting && !is_a_turn(action.reason);
}

bool is_near(const PredictedAction& action) {
  const std::int64_t apart = std::abs((action.predicted - action.measured).value);
  return apart * 100 <= action.measured.value * kNearPct;
}

PredictionFigures figures_of(const std::vector<PredictedAction>& actions) {
  PredictionFigures figures;
  std::vector<std::int64_t> ratios;
  for (const PredictedAction& action : actions) {
    if (!is_worth_counting(action)) {
      continue;
    }
    ++figures.counted;
    figures.near += is_near(action) ? 1 : 0;
    ratios.push_back(action.measured > CpuTime{}
                         ? action.predicted.value * 1000 / action.measured.value
                         : std::numeric_limits<std::int64_t>::max());
  }
  if (!ratios.empty()) {
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    figures.median_ratio = Permille{*middle};
  }
  return figures;
}

}  // namespace vmnuma::tools
