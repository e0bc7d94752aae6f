// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/predictors.h"

namespace vmnuma {

std::optional<Permille> HistogramPredictor::forecast(const VmFacts& /*vm*/, const KnownLoad& load,
                                                     std::int64_t minute) const {
  return load.quantile(minute, kForecastShare);
}

std::optional<Permille> LastMaximumPredictor::forecast(const VmFacts& /*vm*/, const KnownLoad& load,
                                                       std::int64_t /*minute*/) const {
  const std::optional<LoadPast::Span> hour =
      load.past().up_to(load.past().last_minute(), LoadPast::kMinutes);
  return hour ? std::optional(hour->peak) : std::nullopt;
}

std::optional<ChosenForecast> first_forecast(const std::vector<const Predictor*>& predictors,
                                             const VmFacts& vm, const KnownLoad& load,
                                             std::int64_t minute) {
  for (const Predictor* predictor : predictors) {
    if (const std::optional<Permille> p95 = predictor->forecast(vm, load, minute)) {
      return ChosenForecast{*p95, predictor->kind()};
    }
  }
  return std::nullopt;
}

}  // namespace vmnuma
