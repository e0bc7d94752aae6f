// SPDX-License-Identifier: Apache-2.0
/// Records the errors of a transfer's calls, and decides when to retry.
///
/// Properties: an error because the process ended or may not be touched is not retried; any other
/// is retried after a growing wait, until the fourth in a row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "migration/back_off.h"
#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma::migration {

/// Not thread-safe; executor worker only.
class Setbacks {
 public:
  enum class Call { kRead, kMove };

  /// Records the result of a call; returns whether it succeeded.
  template <class T>
  [[nodiscard]] bool record(const Result<T>& result, Call call, Microseconds now) {
    if (!result) {
      note(result.error(), call, now);
      return false;
    }
    record_success(call);
    return true;
  }
  void record_success(Call call) { in_a_row(call) = 0; }
  void note(const Error& error, Call call, Microseconds now) {
    constexpr std::int64_t kMost = 3;
    constexpr Microseconds kFirstWait{100'000};
    constexpr Microseconds kLongestWait{400'000};
    const bool hopeless =
        error.code == ErrorCode::kVanished || error.code == ErrorCode::kPermissionDenied;
    if (hopeless || in_a_row(call) == kMost) {
      error_ = error;
      return;
    }
    wait_until(now + back_off(kFirstWait, in_a_row(call), kLongestWait));
    ++in_a_row(call);
  }
  void wait_until(Microseconds time) { ready_at_ = time; }

  /// The earliest time of the next call.
  [[nodiscard]] Microseconds ready_at() const { return ready_at_; }
  /// The error that ended the retries.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  [[nodiscard]] std::int64_t& in_a_row(Call call) {
    return in_a_row_[static_cast<std::size_t>(call)];
  }

  std::array<std::int64_t, 2> in_a_row_{};  ///< by Call
  Microseconds ready_at_;
  std::optional<Error> error_;
};

}  // namespace vmnuma::migration
