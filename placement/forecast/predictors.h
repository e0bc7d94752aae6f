// SPDX-License-Identifier: Apache-2.0
/// Selects the predictor that forecasts a VM's load, and its fallbacks.
///
/// Problem: the best predictor needs a model that may be missing or may not fit; a forecast is
/// wanted nevertheless. Approach: all predictors answer the same question - which load will 95 of
/// 100 of the next ten minutes not exceed? - or give no answer. A chain asks one after the other.
///
/// Properties:
///  - the answer of the first predictor that has one is used, and the predictor is named;
///  - without any minute of the VM no predictor answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "placement/forecast/known_load.h"
#include "placement/model/amounts.h"
#include "placement/model/forecast.h"
#include "placement/model/vm_facts.h"

namespace vmnuma {

struct Predictor {
  PredictorKind kind{};
  /// Returns the forecast as seen at the end of `minute`, which must not be before the last one of
  /// `load`. Nothing if the predictor has no answer.
  std::function<std::optional<Permille>(const VmFacts& vm, const KnownLoad& load,
                                        std::int64_t minute)>
      forecast;
};

/// KnownLoad's histograms; needs an hour of the VM.
[[nodiscard]] Predictor histogram_predictor();
/// The peak of the last hour in which the VM was seen; needs one minute.
[[nodiscard]] Predictor last_maximum_predictor();

struct ChosenForecast {
  Permille p95;
  PredictorKind by{};
  bool operator==(const ChosenForecast&) const = default;
};

/// Returns the answer of the first predictor that has one, in the given order.
[[nodiscard]] std::optional<ChosenForecast> first_forecast(const std::vector<Predictor>& predictors,
                                                           const VmFacts& vm, const KnownLoad& load,
                                                           std::int64_t minute);

}  // namespace vmnuma
