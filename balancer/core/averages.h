// SPDX-License-Identifier: Apache-2.0
/// Exponentially weighted averages on integers, and the rates that they average.
#pragma once

#include <algorithm>

#include "placement/model/amounts.h"
#include "placement/model/options.h"

namespace vmnuma::balancer {

/// One step of an average with this half-life. 2^(-t/h) is approximated by h / (h + t ln 2), which
/// is within 0.1 % for steps far shorter than the half-life. With a half-life of zero nothing is
/// remembered.
template <class Unit>
[[nodiscard]] constexpr Amount<Unit> averaged(Amount<Unit> average, Amount<Unit> now,
                                              CpuTime elapsed, CpuTime half_life) {
  const CpuTime step = elapsed * 693 / 1000;
  return now + scaled(average - now, half_life.value, (half_life + step).value);
}

/// Converts what was used in an epoch of that length to a rate per second; and back.
[[nodiscard]] constexpr CpuTime per_second(CpuTime amount, CpuTime epoch) {
  return scaled(amount, kMicrosecondsPerSecond, epoch.value);
}
[[nodiscard]] constexpr CpuTime in_epoch(CpuTime rate, CpuTime epoch) {
  return scaled(rate, epoch.value, kMicrosecondsPerSecond);
}

/// Half-life of the averages from which it follows how long a shortage is expected to last.
[[nodiscard]] constexpr CpuTime recently(const Options& options) {
  return CpuTime{options.shortage_half_life * kMicrosecondsPerSecond};
}

/// Half-life, with epochs of that length, of what a client was owed on average: twelve
/// Numa.LTermFairnessIntervals, long enough for every client to have had a turn; twelve epochs if
/// no turns are taken.
[[nodiscard]] constexpr CpuTime fairness_half_life(const Options& options, CpuTime epoch) {
  constexpr std::int64_t kIntervals = 12;
  return epoch * (kIntervals * std::max<std::int64_t>(options.lterm_fairness_interval, 1));
}

}  // namespace vmnuma::balancer
