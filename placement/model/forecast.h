// SPDX-License-Identifier: Apache-2.0
/// What a VM is expected to want in the next ten minutes, made by stats/forecast from its past.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "placement/base/names.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma {

/// How far forecasts look ahead.
inline constexpr std::int64_t kForecastMinutes = 10;

/// Which predictor made a forecast, best first (placement/forecast/predictors.h).
enum class PredictorKind { kTrained, kHistogram, kLastMaximum };
[[nodiscard]] constexpr auto names(PredictorKind) {
  return names_in_order<PredictorKind>("trained", "histogram", "last-maximum");
}
inline constexpr std::size_t kPredictorKinds = kValuesOf<PredictorKind>.size();

/// In thousandths of its vCPUs' full time.
struct LoadForecast {
  Permille mean;
  Permille p95;  ///< what 95 of 100 minutes will not exceed
  PredictorKind by = PredictorKind::kHistogram;
  bool operator==(const LoadForecast&) const = default;
};

using LoadForecasts = std::map<VmId, LoadForecast>;

}  // namespace vmnuma
