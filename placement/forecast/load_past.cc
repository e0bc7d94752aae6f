// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/load_past.h"

#include <algorithm>

namespace vmnuma {
namespace {

constexpr std::int16_t kGap = -1;

/// Returns the place in a ring of that size; minutes and quarters before 1970 do not occur, but do
/// no harm either.
std::size_t place(std::int64_t number, std::int64_t size) {
  return static_cast<std::size_t>(((number % size) + size) % size);
}

}  // namespace

LoadPast::LoadPast() : quarters_(static_cast<std::size_t>(kQuarters)) {
  minutes_.fill(kGap);
}

void LoadPast::add(std::int64_t minute, Permille load) {
  if (!empty_ && minute <= last_minute_) {
    return;
  }
  const std::int64_t last = empty_ ? minute - 1 : last_minute_;
  for (std::int64_t gap = std::max(last + 1, minute - kMinutes); gap < minute; ++gap) {
    minutes_[place(gap, kMinutes)] = kGap;
  }
  const std::int64_t quarter = minute / kQuarter;
  for (std::int64_t next = std::max(last / kQuarter + 1, quarter - kQuarters + 1); next <= quarter;
       ++next) {
    quarters_[place(next, kQuarters)] = {};
  }
  const auto value = static_cast<std::int16_t>(std::clamp<std::int64_t>(load.value, 0, 1000));
  minutes_[place(minute, kMinutes)] = value;
  Quarter& now = quarters_[place(quarter, kQuarters)];
  now.sum += value;
  ++now.count;
  now.peak = std::max(now.peak, value);
  last_minute_ = minute;
  empty_ = false;
}

std::optional<Permille> LoadPast::at(std::int64_t minute) const {
  if (empty_ || minute > last_minute_ || minute <= last_minute_ - kMinutes) {
    return std::nullopt;
  }
  const std::int16_t value = minutes_[place(minute, kMinutes)];
  return value == kGap ? std::nullopt : std::optional(Permille{value});
}

std::optional<LoadPast::Span> LoadPast::up_to(std::int64_t minute, std::int64_t minutes) const {
  Span span{{}, {}, Permille{1000}};
  std::int64_t count = 0;
  for (std::int64_t one = minute - minutes + 1; one <= minute; ++one) {
    if (const std::optional<Permille> load = at(one)) {
      span.mean += *load;
      span.peak = std::max(span.peak, *load);
      span.least = std::min(span.least, *load);
      ++count;
    }
  }
  if (count == 0) {
    return std::nullopt;
  }
  span.mean = span.mean / count;
  return span;
}

std::optional<LoadPast::Span> LoadPast::around(std::int64_t from, std::int64_t until) const {
  Span span{{}, {}, Permille{1000}};
  std::int64_t count = 0;
  const std::int64_t last = last_minute_ / kQuarter;
  for (std::int64_t quarter = from / kQuarter; quarter <= until / kQuarter; ++quarter) {
    if (empty_ || quarter > last || quarter <= last - kQuarters) {
      continue;
    }
    const Quarter& one = quarters_[place(quarter, kQuarters)];
    if (one.count > 0) {
      span.mean += Permille{one.sum};
      span.peak = std::max(span.peak, Permille{one.peak});
      span.least = std::min(span.least, Permille{one.sum / one.count});
      count += one.count;
    }
  }
  if (count == 0) {
    return std::nullopt;
  }
  span.mean = span.mean / count;
  return span;
}

}  // namespace vmnuma
