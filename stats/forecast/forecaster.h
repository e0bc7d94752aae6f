// SPDX-License-Identifier: Apache-2.0
/// A VM's forecast, and how good its past forecasts were.
///
/// Problem: whether a forecast can be trusted is known only once its time has passed, but it is
/// needed at once. Approach: all forecasts are recomputed from the minutes in the history. Every
/// ten minutes each predictor forecasts, whether it is believed or not, and is scored by what
/// happens then. The first predictor of the chain that can make a forecast is believed.
///
/// Terms: *minute* - since 1970 (UTC); something is known at its end.
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
  ForecastScore score;
  std::int64_t believed = 0;  ///< forecasts that were its own, one every ten minutes
  bool operator==(const PredictorRecord&) const = default;
};
/// By PredictorKind.
using PredictorRecords = std::array<PredictorRecord, kPredictorKinds>;

/// The forecast for a VM.
struct VmForecast {
  std::int64_t minute = 0;  ///< it is made at the end of this one
  Permille p5;              ///< from the histogram
  Permille p95;
  PredictorKind by{};
  PredictorRecords records;
};

class Forecaster {
 public:
  /// The chain in the order of trust; all predictors must outlive the forecaster.
  Forecaster(VmFacts vm, std::vector<const Predictor*> predictors);

  /// Minutes must ascend; an earlier one is ignored.
  void learn(const MinuteLoad& load);

  /// As of the end of `minute`, which must not precede the last one learnt. Nothing if no predictor
  /// can make one.
  [[nodiscard]] std::optional<VmForecast> forecast(std::int64_t minute) const;

 private:
  void score(const MinuteLoad& load);
  void make_pending(std::int64_t minute);

  VmFacts vm_;
  std::vector<const Predictor*> predictors_;
  KnownLoad load_;
  /// By PredictorKind, and the minute in which they were made.
  std::array<std::optional<Permille>, kPredictorKinds> pending_;
  std::int64_t pending_since_ = 0;
  /// A ring of days.
  std::array<PredictorRecords, static_cast<std::size_t>(LoadPast::kDays)> by_day_{};
  std::int64_t scored_day_ = 0;
};

}  // namespace vmnuma::stats
