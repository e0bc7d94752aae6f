// SPDX-License-Identifier: Apache-2.0
/// A VM's forecast, and how good forecasts for it were.
///
/// Problem: whether a forecast can be trusted is only known once what it was about has passed; and
/// who asks wants to know at once. Approach: all forecasts are made anew from the minutes that the
/// history has. Every ten minutes each predictor forecasts, whether it is believed or not, and what
/// then comes is its score. The first predictor of the chain that can tell is believed.
///
/// Terms: *minute* - since 1970 (UTC), at whose end something is known.
///
/// Properties:
///  - equal minutes give equal forecasts and scores;
///  - a forecast is scored only by minutes that came after it, within ten;
///  - scores are those of the last eight days.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/forecast/known_load.h"
#include "placement/forecast/predictors.h"
#include "placement/forecast/score.h"
#include "stats/history/loads.h"

namespace vmnuma::stats {

/// One predictor's record in the last eight days.
struct PredictorRecord {
  placement::ForecastScore score;
  std::int64_t believed = 0;  ///< forecasts that were its, one every ten minutes
  bool operator==(const PredictorRecord&) const = default;
};
/// By PredictorKind.
using PredictorRecords = std::array<PredictorRecord, placement::kPredictorKinds>;

/// What is forecast for a VM.
struct VmForecast {
  std::int64_t minute = 0;  ///< at whose end it is made
  placement::Permille p5;   ///< as the histogram has it
  placement::Permille p95;
  placement::PredictorKind by{};
  PredictorRecords records;
};

class Forecaster {
 public:
  /// The chain, the first to be believed first; all of them outlive the forecaster.
  Forecaster(placement::VmFacts vm, std::vector<const placement::Predictor*> predictors);

  /// Ascending minute; an earlier one is ignored.
  void learn(const MinuteLoad& load);

  /// As seen at the end of `minute`, which is not before the last one that was learnt. Nothing if
  /// nobody can tell.
  [[nodiscard]] std::optional<VmForecast> forecast(std::int64_t minute) const;

 private:
  void score(const MinuteLoad& load);
  void make_pending(std::int64_t minute);

  placement::VmFacts vm_;
  std::vector<const placement::Predictor*> predictors_;
  placement::KnownLoad load_;
  /// By PredictorKind, and the minute they were made in.
  std::array<std::optional<placement::Permille>, placement::kPredictorKinds> pending_;
  std::int64_t pending_since_ = 0;
  /// A ring of days.
  std::array<PredictorRecords, static_cast<std::size_t>(placement::LoadPast::kDays)> by_day_{};
  std::int64_t scored_day_ = 0;
};

}  // namespace vmnuma::stats
