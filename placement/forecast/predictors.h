// SPDX-License-Identifier: Apache-2.0
/// Which predictor forecasts a VM's load, and which one stands in for it.
///
/// Problem: the best predictor needs a model that may be missing or not fit; a forecast is wanted
/// all the same. Approach: all predictors answer the same question - which load will 95 of 100 of
/// the next ten minutes not exceed? - or give no answer. A chain asks one after the other.
///
/// Properties:
///  - the first predictor that answers is believed, and named;
///  - without any minute of the VM no predictor answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/forecast/known_load.h"
#include "placement/model/amounts.h"
#include "placement/model/forecast.h"
#include "placement/model/vm_facts.h"

namespace vmnuma {

class Predictor {
 public:
  Predictor() = default;
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;
  virtual ~Predictor() = default;

  [[nodiscard]] virtual PredictorKind kind() const = 0;
  /// As seen at the end of `minute`, which is not before the last one of `load`. Nothing if it has
  /// no answer.
  [[nodiscard]] virtual std::optional<Permille> forecast(const VmFacts& vm, const KnownLoad& load,
                                                         std::int64_t minute) const = 0;
};

/// KnownLoad's histograms; needs an hour of the VM.
class HistogramPredictor final : public Predictor {
 public:
  [[nodiscard]] PredictorKind kind() const override { return PredictorKind::kHistogram; }
  [[nodiscard]] std::optional<Permille> forecast(const VmFacts& vm, const KnownLoad& load,
                                                 std::int64_t minute) const override;
};

/// The peak of the last hour in which the VM was seen; needs one minute.
class LastMaximumPredictor final : public Predictor {
 public:
  [[nodiscard]] PredictorKind kind() const override { return PredictorKind::kLastMaximum; }
  [[nodiscard]] std::optional<Permille> forecast(const VmFacts& vm, const KnownLoad& load,
                                                 std::int64_t minute) const override;
};

struct ChosenForecast {
  Permille p95;
  PredictorKind by{};
  bool operator==(const ChosenForecast&) const = default;
};

/// The first of the predictors that answers, in their order. All of them outlive the call.
[[nodiscard]] std::optional<ChosenForecast> first_forecast(
    const std::vector<const Predictor*>& predictors, const VmFacts& vm, const KnownLoad& load,
    std::int64_t minute);

}  // namespace vmnuma
