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

}  // namespace

/// It is the plain mean at first.
void KnownLoad::Mean::take_in(std::int64_t more) {
  count = std::min(count + 1, kPlainMean);
  value += (more * (std::int64_t{1} << kLossBits) - value) / count;
}

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

std::optional<Permille> KnownLoad::quantile_from(const Start& start, Permille share) const {
  const std::optional<std::int64_t> rise = records_[start.anchor].rises.quantile(share);
  return rise ? std::optional(std::clamp(start.at + Permille{*rise}, Permille{}, kMost))
              : std::nullopt;
}

std::optional<Permille> KnownLoad::mean_from(const Start& start) const {
  const Mean& rise = records_[start.anchor].rise;
  if (rise.count == 0) {
    return std::nullopt;
  }
  const Permille mean{rise.value / (std::int64_t{1} << kLossBits)};
  return std::clamp(start.at + mean, Permille{}, kMost);
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
        record.rise.take_in(rise);
      }
      if (guess.p95) {
        record.loss.take_in(pinball_loss(*guess.p95, load));
      }
      if (guess.mean) {
        const std::int64_t error = (load - *guess.mean).value;
        record.error.take_in(error * error);
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
    guess = {anchor_at(minute, static_cast<Anchor>(anchor)), std::nullopt, std::nullopt};
    if (guess.anchor) {
      guess.p95 = quantile_from({anchor, *guess.anchor}, kForecastShare);
      guess.mean = mean_from({anchor, *guess.anchor});
    }
  }
}

std::optional<KnownLoad::Start> KnownLoad::best_start(std::int64_t minute,
                                                      Mean Record::*loss) const {
  if (minutes_ < kLeastMinutes) {
    return std::nullopt;
  }
  Start best;
  const bool is_off = minute - past_.last_minute() > kOffAfter;
  std::optional<std::int64_t> least;
  for (std::size_t anchor = 0; !is_off && anchor < kAnchors; ++anchor) {
    const Mean& its = records_[anchor].*loss;
    const auto at = its.count > 0 ? anchor_at(minute, static_cast<Anchor>(anchor)) : std::nullopt;
    if (at && (!least || its.value < *least)) {
      least = its.value;
      best = {anchor, *at};
    }
  }
  return best;
}

std::optional<Permille> KnownLoad::quantile(std::int64_t minute, Permille share) const {
  const std::optional<Start> start = best_start(minute, &Record::loss);
  return start ? quantile_from(*start, share) : std::nullopt;
}

std::optional<Permille> KnownLoad::mean(std::int64_t minute) const {
  const std::optional<Start> start = best_start(minute, &Record::error);
  return start ? mean_from(*start) : std::nullopt;
}

}  // namespace vmnuma
