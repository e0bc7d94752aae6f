// SPDX-License-Identifier: Apache-2.0
/// The time of the balanced host.
///
/// Problem: on a simulated host time may pass faster than here; readings, deadlines of moves and
/// entries in the history must all agree on it, while timeouts for things that hang remain in this
/// machine's time. Approach: the host's clocks are those of this machine, accelerated by an integer
/// factor from some moment on. Properties:
///  - at speed 1 both clocks are those of this machine;
///  - the wall clock runs as fast as the monotonic one, and follows when the machine's clock is
///    set.
#pragma once

#include <chrono>
#include <cstdint>

#include "placement/model/amounts.h"

namespace vmnuma::balancer {

/// A value; any thread.
class HostTime {
 public:
  HostTime() = default;
  /// Runs `speed` times as fast as this machine's clocks from now on; at least 1.
  explicit HostTime(std::int64_t speed)
      : speed_(speed), begin_(std::chrono::steady_clock::now().time_since_epoch()) {}

  /// The monotonic time, as used by the executor and the samples.
  [[nodiscard]] Microseconds now() const;
  [[nodiscard]] std::chrono::system_clock::time_point wall() const;
  [[nodiscard]] std::int64_t wall_unix_s() const;
  /// The duration on this machine that corresponds to `time`.
  [[nodiscard]] std::chrono::microseconds here(Microseconds time) const {
    return std::chrono::microseconds(time.value / speed_);
  }

 private:
  [[nodiscard]] std::chrono::steady_clock::duration ahead() const;

  std::int64_t speed_ = 1;
  std::chrono::steady_clock::duration begin_{};
};

}  // namespace vmnuma::balancer
