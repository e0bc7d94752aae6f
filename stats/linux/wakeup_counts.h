// SPDX-License-Identifier: Apache-2.0
/// The file in which vmnuma-wakeups reports how often threads of two VMs woke each other.
///
/// Problem: the daemon needs to know which VMs talk to each other, but lacks the privileges that
/// counting requires. Approach: a separate program counts, and replaces this file atomically every
/// few seconds. Plain text:
///
///     vmnuma-wakeups 1 8123456789 2000
///     4711 4712 90210
///     4711 4999 3
///
/// The first line has the format's version, the monotonic time of writing in microseconds
/// (CLOCK_MONOTONIC), and the period of writing in milliseconds. Every other line is a pair of QEMU
/// processes, the lower pid first, and how often one of them woke the other since the program was
/// started. Pairs that never woke each other are left out. Lines are sorted by pids.
///
/// Properties:
///  - any deviation from the format gives the error `corrupt`, which quotes the line;
///  - a file that is no longer written is recognized as stale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma::stats {

/// Relative to the root directory, in a directory of its own that exists only while its writer
/// runs.
inline constexpr std::string_view kWakeupCountsFile = "run/vmnuma-wakeups/counts";
inline constexpr Microseconds kMostWakeupsPeriod{60'000'000};

struct PidWakeups {
  std::int64_t a = 0;  ///< < b
  std::int64_t b = 0;
  std::int64_t count = 0;
  bool operator==(const PidWakeups&) const = default;
};

struct WakeupCounts {
  Microseconds taken_at;          ///< monotonic
  Microseconds period;            ///< whole milliseconds
  std::vector<PidWakeups> pairs;  ///< by a, b
  bool operator==(const WakeupCounts&) const = default;
};

[[nodiscard]] std::string text_of(const WakeupCounts& counts);

/// Parses the file's text. Error: corrupt.
[[nodiscard]] Result<WakeupCounts> parse_wakeup_counts(std::string_view text);

/// Returns false once five periods have passed without a new file, which means that no program
/// counts any more. `now` is monotonic.
[[nodiscard]] bool is_current(const WakeupCounts& counts, Microseconds now);

}  // namespace vmnuma::stats
