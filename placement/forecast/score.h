// SPDX-License-Identifier: Apache-2.0
/// Scores forecasts.
///
/// Problem: a forecast of a 95th percentile is right if one value in twenty exceeds it; a single
/// value proves nothing. Approach: *coverage* - the share of values that did not exceed their
/// forecast; *pinball loss* - a value above its forecast counts 0.95 of the difference, a value
/// below it 0.05. No other forecast has a smaller pinball loss than the true percentile.
///
/// Properties:
///  - the loss is never negative, and zero where the forecast is hit;
///  - among all constant forecasts of a series its 95th percentile has the least loss.
#pragma once

#include <cstdint>

#include "placement/model/amounts.h"
#include "placement/model/forecast.h"

namespace vmnuma {

/// The percentile that every forecast of a load stands for: of the next ten minutes, by minute.
inline constexpr Permille kForecastShare{950};

/// Pinball loss of one value, in millionths of the VM's full time: thousandths of a thousandth.
[[nodiscard]] constexpr std::int64_t pinball_loss(Permille forecast, Permille value) {
  const std::int64_t above = (value - forecast).value;
  return above >= 0 ? above * kForecastShare.value : -above * (1000 - kForecastShare.value);
}

struct ForecastScore {
  std::int64_t values = 0;
  std::int64_t covered = 0;
  std::int64_t loss = 0;  ///< sum of pinball_loss()

  void add(Permille forecast, Permille value) {
    *this += {1, value <= forecast ? 1 : 0, pinball_loss(forecast, value)};
  }
  ForecastScore& operator+=(const ForecastScore& other) {
    values += other.values;
    covered += other.covered;
    loss += other.loss;
    return *this;
  }
  /// Share of all values; 1000 if there are none.
  [[nodiscard]] Permille coverage() const { return permille_of(covered, values, Permille{1000}); }
  /// Average pinball loss of a value, in millionths; 0 if there are none.
  [[nodiscard]] std::int64_t mean_loss() const { return values > 0 ? loss / values : 0; }
  bool operator==(const ForecastScore&) const = default;
};

}  // namespace vmnuma
