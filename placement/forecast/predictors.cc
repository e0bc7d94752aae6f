// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/predictors.h"

namespace vmnuma {

Predictor histogram_predictor() {
  return {PredictorKind::kHistogram,
          [](const VmFacts& /*vm*/, const KnownLoad& load, std::int64_t minute) {
            return load.quantile(minute, kForecastShare);
          }};
}

Predictor last_maximum_predictor() {
  return {PredictorKind::kLastMaximum,
          [](const VmFacts& /*vm*/, const KnownLoad& load, std::int64_t /*minute*/) {
            const std::optional<LoadPast::Span> hour =
                load.past().up_to(load.past().last_minute(), LoadPast::kMinutes);
            return hour ? std::optional(hour->peak) : std::nullopt;
          }};
}

std::optional<ChosenForecast> first_forecast(const std::vector<Predictor>& predictors,
                                             const VmFacts& vm, const KnownLoad& load,
                                             std::int64_t minute) {
  for (const Predictor& predictor : predictors) {
    if (const std::optional<Permille> p95 = predictor.forecast(vm, load, minute)) {
      return ChosenForecast{*p95, predictor.kind};
    }
  }
  return std::nullopt;
}

}  // namespace vmnuma
