// SPDX-License-Identifier: Apache-2.0
/// The wait before a failed call is repeated.
#pragma once

#include <algorithm>
#include <cstdint>

#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma::migration {

/// The wait after a failure that followed `failures_before` others in a row: `first`, doubled with
/// each further failure, at most `longest`.
[[nodiscard]] constexpr Microseconds back_off(Microseconds first, std::int64_t failures_before,
                                              Microseconds longest) {
  constexpr std::int64_t kMostDoublings = 20;
  return std::min(longest, first * (std::int64_t{1} << std::min(failures_before, kMostDoublings)));
}

/// True if the call failed only because libvirt is unavailable or a job holds the VM.
[[nodiscard]] inline bool is_transient(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kBusy;
}

/// Counts the attempts at one call and schedules the next.
class Attempts {
 public:
  /// The time of the next attempt. The wait starts at the first `now` after a failure, because the
  /// call itself may have taken long, and is at least as long as the call, so that other work gets
  /// at least half of the time.
  [[nodiscard]] Microseconds ready_at(Microseconds now) {
    if (wait_ > Microseconds{}) {
      ready_at_ = now + std::max(wait_, now - failed_at_);
      wait_ = {};
    }
    return ready_at_;
  }
  /// Failures in a row.
  [[nodiscard]] std::int64_t failures() const { return failures_; }
  /// Records a failure; `now` is when the call began.
  void failed(Microseconds now, Microseconds first, Microseconds longest) {
    failed_at_ = now;
    wait_ = back_off(first, failures_++, longest);
  }
  /// Called when a different call comes next.
  void reset_failures() { failures_ = 0; }

 private:
  std::int64_t failures_ = 0;
  Microseconds failed_at_;
  Microseconds wait_;  ///< not started yet; zero: none
  Microseconds ready_at_;
};

}  // namespace vmnuma::migration
