// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/forecaster.h"

#include <algorithm>
#include <utility>

namespace vmnuma::stats {

namespace {

constexpr Permille kLowShare{50};

std::size_t index_of(PredictorKind kind) {
  return static_cast<std::size_t>(kind);
}

std::size_t place_of_day(std::int64_t day) {
  return static_cast<std::size_t>(day % LoadPast::kDays);
}

}  // namespace

Forecaster::Forecaster(VmFacts vm, std::vector<Predictor> predictors)
    : vm_(std::move(vm)), predictors_(std::move(predictors)) {}

/// Scores forecasts against the actual load, and drops days that are over.
void Forecaster::score(const MinuteLoad& load) {
  const std::int64_t day = load.minute / LoadPast::kDay;
  for (std::int64_t next = std::max(scored_day_ + 1, day - LoadPast::kDays + 1); next <= day;
       ++next) {
    by_day_[place_of_day(next)] = {};
  }
  scored_day_ = day;
  const std::int64_t ahead = load.minute - pending_since_;
  if (ahead < 1 || ahead > kForecastMinutes) {
    return;
  }
  PredictorRecords& today = by_day_[place_of_day(day)];
  for (std::size_t kind = 0; kind < pending_.size(); ++kind) {
    if (pending_[kind]) {
      today[kind].score.add(*pending_[kind], load.load);
    }
  }
}

void Forecaster::make_pending(std::int64_t minute) {
  pending_ = {};
  pending_since_ = minute;
  for (const Predictor& predictor : predictors_) {
    pending_[index_of(predictor.kind)] = predictor.forecast(vm_, load_, minute);
  }
  if (const auto chosen = first_forecast(predictors_, vm_, load_, minute)) {
    ++by_day_[place_of_day(scored_day_)][index_of(chosen->by)].believed;
  }
}

void Forecaster::learn(const MinuteLoad& load) {
  if (!load_.past().empty() && load.minute <= load_.past().last_minute()) {
    return;
  }
  score(load);
  load_.add(load.minute, load.load);
  if (load.minute % kForecastMinutes == 0) {
    make_pending(load.minute);
  }
}

std::optional<VmForecast> Forecaster::forecast(std::int64_t minute) const {
  const std::optional<ChosenForecast> chosen = first_forecast(predictors_, vm_, load_, minute);
  if (!chosen) {
    return std::nullopt;
  }
  VmForecast forecast;
  forecast.minute = minute;
  forecast.p95 = chosen->p95;
  forecast.p5 = std::min(load_.quantile(minute, kLowShare).value_or(Permille{}), forecast.p95);
  forecast.by = chosen->by;
  for (const PredictorRecords& day : by_day_) {
    for (std::size_t kind = 0; kind < day.size(); ++kind) {
      forecast.records[kind].score += day[kind].score;
      forecast.records[kind].believed += day[kind].believed;
    }
  }
  return forecast;
}

}  // namespace vmnuma::stats
