// SPDX-License-Identifier: Apache-2.0
/// Assesses the balancer's predictions: predicted and measured gain of each action.
///
/// Terms: *gain* - lost time that an action saves per epoch. *Worth counting* - a predicted gain of
/// more than kWorthCounting, by an action other than a turn: a turn passes a shortage on to other
/// clients and is not meant to save anything. *Near* - the predicted gain is within kNearPct per
/// cent of the measured one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/plan.h"

namespace vmnuma::tools {

inline constexpr CpuTime kWorthCounting{50'000};
inline constexpr std::int64_t kNearPct = 20;

/// One action that was carried out and measured.
struct PredictedAction {
  std::int64_t epoch = 0;  ///< in which the action was ordered
  std::int64_t ended = 0;  ///< in which the outcome was measured
  Reason reason{};
  CpuTime predicted;  ///< gain
  CpuTime measured;   ///< gain
};

struct PredictionFigures {
  std::int64_t counted = 0;
  std::int64_t near = 0;
  /// Median of predicted / measured; a measured gain of zero or less counts as the largest ratio.
  /// Absent if nothing is worth counting.
  std::optional<Permille> median_ratio;
};

[[nodiscard]] bool is_worth_counting(const PredictedAction& action);
[[nodiscard]] bool is_near(const PredictedAction& action);
[[nodiscard]] PredictionFigures figures_of(const std::vector<PredictedAction>& actions);

}  // namespace vmnuma::tools
