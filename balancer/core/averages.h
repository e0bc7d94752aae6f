// SPDX-License-Identifier: Apache-2.0
/// Exponentially weighted averages on integers, and the rates that they average.
#pragma once

#include "placement/model/amounts.h"
#include "placement/model/options.h"

namespace vmnuma::balancer {

/// One step of an average with this half-life. 2^(-t/h) is taken as h / (h + t ln 2), which is
/// within 0.1 % for steps far shorter than the half-life. A half-life of zero remembers nothing.
template <class Unit>
[[nodiscard]] constexpr placement::Amount<Unit> averaged(placement::Amount<Unit> average,
                                                         placement::Amount<Unit> now,
                                                         placement::CpuTime elapsed,
                                                         placement::CpuTime half_life) {
  const placement::CpuTime step = elapsed * 693 / 1000;
  return now + scaled(average - now, half_life.value, (half_life + step).value);
}

/// What was used in an epoch of that length, as a rate per second; and back.
[[nodiscard]] constexpr placement::CpuTime per_second(placement::CpuTime amount,
                                                      placement::CpuTime epoch) {
  return scaled(amount, placement::kMicrosecondsPerSecond, epoch.value);
}
[[nodiscard]] constexpr placement::CpuTime in_epoch(placement::CpuTime rate,
                                                    placement::CpuTime epoch) {
  return scaled(rate, epoch.value, placement::kMicrosecondsPerSecond);
}

/// Half-life of the averages that tell how long a shortage is expected to last.
[[nodiscard]] constexpr placement::CpuTime recently(const placement::Options& options) {
  return placement::CpuTime{options.shortage_half_life * placement::kMicrosecondsPerSecond};
}

/// What a client was owed is remembered with a half-life of this many Numa.LTermFairnessIntervals:
/// long enough for every client to have had a turn.
inline constexpr std::int64_t kFairnessMemory = 12;

}  // namespace vmnuma::balancer
