// SPDX-License-Identifier: Apache-2.0
/// How long to wait before repeating a call that failed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "placement/model/amounts.h"

namespace vmnuma::migration {

/// After that many failures in a row, 0 for the first: `first`, doubled with each further one.
[[nodiscard]] constexpr placement::Microseconds back_off(placement::Microseconds first,
                                                         std::int64_t failures_before,
                                                         placement::Microseconds longest) {
  constexpr std::int64_t kMostDoublings = 20;
  return std::min(longest, first * (std::int64_t{1} << std::min(failures_before, kMostDoublings)));
}

/// Attempts at one call.
class Attempts {
 public:
  [[nodiscard]] placement::Microseconds ready_at() const { return ready_at_; }
  /// Failures in a row.
  [[nodiscard]] std::int64_t failures() const { return failures_; }
  void failed(placement::Microseconds now, placement::Microseconds first,
              placement::Microseconds longest) {
    ready_at_ = now + back_off(first, failures_++, longest);
  }
  /// A different call comes next.
  void begin_anew() { failures_ = 0; }

 private:
  std::int64_t failures_ = 0;
  placement::Microseconds ready_at_;
};

}  // namespace vmnuma::migration
