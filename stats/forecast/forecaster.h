// SPDX-License-Identifier: Apache-2.0
/// Forecasts a VM's load and keeps a record of how good its past forecasts were.
///
/// Problem: whether a forecast was right is known only once its time has passed, but whether to
/// trust it must be known now. Approach: all forecasts are recomputed from the minutes in the
/// history. Every ten minutes each predictor makes a forecast, whether it is believed or not, and
/// is scored by the load that follows. The forecast of the first predictor in the chain that can
/// make one is believed.
///
/// Terms: *minute* - minutes since 1970 (UTC); a minute's load is known at its end.
///
/// Properties:
///  - equal minutes give equal forecasts and scores;
///  - a forecast is scored only by the ten minutes after it;
///  - scores cover the last eight days.
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

/// One predictor's record over the last eight days.
struct PredictorRecord {
  ForecastScore score;
  std::int64_t believed = 0;  ///< forecasts by it that were believed, one every ten minutes
  bool operator==(const PredictorRecord&) const = default;
};
/// By PredictorKind.
using PredictorRecords = std::array<PredictorRecord, kPredictorKinds>;

/// The forecast for a VM.
struct VmForecast {
  std::int64_t minute = 0;  ///< made at the end of this minute
  Permille p5;              ///< from the histogram
  Permille p95;
  PredictorKind by{};
  PredictorRecords records;
};

class Forecaster {
 public:
  /// `predictors` is the chain, the most trusted first.
  Forecaster(VmFacts vm, std::vector<Predictor> predictors);

  /// Adds a minute. Minutes must ascend; an earlier one is ignored.
  void learn(const MinuteLoad& load);

  /// Returns the forecast as of the end of `minute`, which must not precede the last minute learnt.
  /// Nothing if no predictor can make one.
  [[nodiscard]] std::optional<VmForecast> forecast(std::int64_t minute) const;

 private:
  void score(const MinuteLoad& load);
  void make_pending(std::int64_t minute);

  VmFacts vm_;
  std::vector<Predictor> predictors_;
  KnownLoad load_;
  /// Forecasts to be scored, by PredictorKind, and the minute in which they were made.
  std::array<std::optional<Permille>, kPredictorKinds> pending_;
  std::int64_t pending_since_ = 0;
  /// Records by day, as a ring.
  std::array<PredictorRecords, static_cast<std::size_t>(LoadPast::kDays)> by_day_{};
  std::int64_t scored_day_ = 0;
};

}  // namespace vmnuma::stats
