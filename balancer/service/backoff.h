// SPDX-License-Identifier: Apache-2.0
/// When to retry what has failed: soon at first, then less and less often.
#pragma once

#include <algorithm>
#include <chrono>

namespace vmnuma::balancer {

/// One thread at a time.
class Backoff {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The first and the longest pause; each pause is twice the previous one. If nothing fails for as
  /// long as the longest pause, the next one is the first again.
  constexpr Backoff(std::chrono::seconds first, std::chrono::seconds longest)
      : first_(first), longest_(longest), pause_(first) {}

  void failed(Time now) {
    if (now > next_ + longest_) {
      pause_ = first_;
    }
    next_ = now + pause_;
    pause_ = std::min(pause_ * 2, longest_);
  }
  [[nodiscard]] bool is_due(Time now) const { return now >= next_; }

 private:
  std::chrono::seconds first_;
  std::chrono::seconds longest_;
  std::chrono::seconds pause_;
  Time next_{};
};

}  // namespace vmnuma::balancer
