// SPDX-License-Identifier: Apache-2.0
/// How long to wait before repeating a call that failed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma::migration {

/// After that many failures in a row, 0 for the first: `first`, doubled with each further one.
[[nodiscard]] constexpr Microseconds back_off(Microseconds first, std::int64_t failures_before,
                                              Microseconds longest) {
  constexpr std::int64_t kMostDoublings = 20;
  return std::min(longest, first * (std::int64_t{1} << std::min(failures_before, kMostDoublings)));
}

/// True if the call failed only because libvirt is away, or a job holds the VM.
[[nodiscard]] inline bool will_pass(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kBusy;
}

/// Attempts at one call.
class Attempts {
 public:
  /// When the next one is due. The wait begins at the first `now` after a failure, since the call
  /// itself may have taken long, and is no shorter than the call: what else is to be done has at
  /// least half of the time.
  [[nodiscard]] Microseconds ready_at(Microseconds now) {
    if (wait_ > Microseconds{}) {
      ready_at_ = now + std::max(wait_, now - failed_at_);
      wait_ = {};
    }
    return ready_at_;
  }
  /// Failures in a row.
  [[nodiscard]] std::int64_t failures() const { return failures_; }
  /// `now`: when the call began.
  void failed(Microseconds now, Microseconds first, Microseconds longest) {
    failed_at_ = now;
    wait_ = back_off(first, failures_++, longest);
  }
  /// A different call comes next.
  void begin_anew() { failures_ = 0; }

 private:
  std::int64_t failures_ = 0;
  Microseconds failed_at_;
  Microseconds wait_;  ///< has not begun yet; zero: none
  Microseconds ready_at_;
};

}  // namespace vmnuma::migration
