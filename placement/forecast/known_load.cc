// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/known_load.h"

#include <algorithm>

namespace vmnuma {
namespace {

constexpr Permille kMost{1000};
constexpr std::int64_t kBucket = 5;
/// Minutes in "the last minutes".
constexpr std::int64_t kNowMinutes = 5;
constexpr std::int64_t kLatelyMinutes = 15;
/// After this many minutes without a reading a VM is assumed to be off.
constexpr std::int64_t kOffAfter = 10;
/// Each value moves the mean loss by 2^-13 of the difference: with ten values a minute half of a
/// mean is 568 minutes old, about the histograms' half-life.
constexpr unsigned kLossShift = 13;
constexpr unsigned kLossBits = 16;
/// How many values, a day's, it takes before a mean loss is exponentially weighted. Until then, it
/// is the plain mean.
constexpr std::int64_t kPlainMean = std::int64_t{1} << kLossShift;

std::size_t ring_place(std::int64_t minute) {
  return static_cast<std::size_t>(((minute % kForecastMinutes) + kForecastMinutes) %
                                  kForecastMinutes);
}

/// Adds one value to an exponentially weighted mean, which is the plain one at first.
void take_in(std::int64_t value, std::int64_t& mean, std::int64_t& values) {
  values = std::min(values + 1, kPlainMean);
  mean += (value * (std::int64_t{1} << kLossBits) - mean) / values;
}

}  // namespace

KnownLoad::KnownLoad() {
  records_.push_back({DecayingHistogram(0, kMost.value, kBucket)});
  while (records_.size() < kAnchors) {
    records_.push_back({DecayingHistogram(-kMost.value, kMost.value, kBucket)});
  }
}

std::optional<Permille> KnownLoad::anchor_at(std::int64_t minute, Anchor anchor) const {
  const auto peak = [](const std::optional<LoadPast::Span>& span) {
    return span ? std::optional(span->peak) : std::nullopt;
  };
  switch (anchor) {
    case Anchor::kNothing:
      return Permille{};
    case Anchor::kMinute:
      return past_.at(minute);
    case Anchor::kNow: {
      const std::optional<LoadPast::Span> span = past_.up_to(minute, kNowMinutes);
      return span ? std::optional(span->mean) : std::nullopt;
    }
    case Anchor::kLately:
      return peak(past_.up_to(minute, kLatelyMinutes));
    case Anchor::kHour:
      return peak(past_.up_to(minute, LoadPast::kMinutes));
    case Anchor::kDayBefore:
      return peak(
          past_.around(minute + 1 - LoadPast::kDay, minute + kForecastMinutes - LoadPast::kDay));
    case Anchor::kWeekBefore:
      return peak(
          past_.around(minute + 1 - LoadPast::kWeek, minute + kForecastMinutes - LoadPast::kWeek));
  }
  return std::nullopt;
}

std::optional<Permille> KnownLoad::quantile_from(std::size_t anchor, Permille at,
                                                 Permille share) const {
  const std::optional<std::int64_t> rise = records_[anchor].rises.quantile(share);
  return rise ? std::optional(std::clamp(at + Permille{*rise}, Permille{}, kMost)) : std::nullopt;
}

/// Compares the forecasts of the last minutes with the load that followed.
void KnownLoad::judge(std::int64_t minute, Permille load) {
  for (const Minute& made : guesses_) {
    if (made.minute >= minute || made.minute < minute - kForecastMinutes) {
      continue;
    }
    for (std::size_t anchor = 0; anchor < kAnchors; ++anchor) {
      const Guess& guess = made.guesses[anchor];
      Record& record = records_[anchor];
      if (guess.anchor) {
        const std::int64_t rise = (load - *guess.anchor).value;
        record.rises.add(rise, minute);
        take_in(rise, record.mean_rise, record.rise_values);
      }
      if (guess.p95) {
        take_in(pinball_loss(*guess.p95, load), record.mean_loss, record.values);
      }
      if (guess.mean) {
        const std::int64_t error = (load - *guess.mean).value;
        take_in(error * error, record.mean_error, record.error_values);
      }
    }
  }
}

void KnownLoad::add(std::int64_t minute, Permille load) {
  if (!past_.empty() && minute <= past_.last_minute()) {
    return;
  }
  load = std::clamp(load, Permille{}, kMost);
  judge(minute, load);
  past_.add(minute, load);
  ++minutes_;
  Minute& now = guesses_[ring_place(minute)];
  now.minute = minute;
  for (std::size_t anchor = 0; anchor < kAnchors; ++anchor) {
    Guess& guess = now.guesses[anchor];
    guess.anchor = anchor_at(minute, static_cast<Anchor>(anchor));
    guess.p95 = guess.anchor ? quantile_from(anchor, *guess.anchor, kForecastShare) : std::nullopt;
    guess.mean = guess.anchor ? mean_from(anchor, *guess.anchor) : std::nullopt;
  }
}

std::optional<Permille> KnownLoad::mean_from(std::size_t anchor, Permille at) const {
  const Record& record = records_[anchor];
  if (record.rise_values == 0) {
    return std::nullopt;
  }
  const Permille rise{record.mean_rise / (std::int64_t{1} << kLossBits)};
  return std::clamp(at + rise, Permille{}, kMost);
}

std::size_t KnownLoad::best_anchor(std::int64_t minute, std::int64_t Record::*loss,
                                   std::int64_t Record::*values) const {
  if (minute - past_.last_minute() > kOffAfter) {
    return 0;
  }
  std::optional<std::size_t> best;
  for (std::size_t anchor = 0; anchor < kAnchors; ++anchor) {
    const Record& record = records_[anchor];
    if (record.*values == 0 || !anchor_at(minute, static_cast<Anchor>(anchor))) {
      continue;
    }
    if (!best || record.*loss < records_[*best].*loss) {
      best = anchor;
    }
  }
  return best.value_or(0);
}

std::optional<Permille> KnownLoad::quantile(std::int64_t minute, Permille share) const {
  if (minutes_ < kLeastMinutes) {
    return std::nullopt;
  }
  const std::size_t anchor = best_anchor(minute, &Record::mean_loss, &Record::values);
  return quantile_from(anchor, anchor_at(minute, static_cast<Anchor>(anchor)).value_or(Permille{}),
                       share);
}

std::optional<Permille> KnownLoad::mean(std::int64_t minute) const {
  if (minutes_ < kLeastMinutes) {
    return std::nullopt;
  }
  const std::size_t anchor = best_anchor(minute, &Record::mean_error, &Record::error_values);
  return mean_from(anchor, anchor_at(minute, static_cast<Anchor>(anchor)).value_or(Permille{}));
}

}  // namespace vmnuma
