// SPDX-License-Identifier: Apache-2.0
/// The file in which vmnuma-wakeups tells how often threads of two VMs woke each other.
///
/// Problem: the daemon should know who talks to whom without the rights that counting takes.
/// Approach: a program of its own counts and writes this file every few seconds, replacing it in
/// one step. Plain text:
///
///     vmnuma-wakeups 1 8123456789 2000
///     4711 4712 90210
///     4711 4999 3
///
/// The first line has the format's version, the monotonic time of writing in microseconds
/// (CLOCK_MONOTONIC), and in milliseconds how often the file is written. Every other line is a pair
/// of QEMU processes, the lower pid first, and how often one of them woke the other since the
/// program was started. Pairs that never did are left out. Lines are in the order of their pids.
///
/// Properties:
///  - what is not exactly in the format is an Error `corrupt` that quotes the line;
///  - a file that nobody writes any more is told from one that is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma::stats {

/// Below the root directory. In a directory of its own, which comes and goes with its writer.
inline constexpr std::string_view kWakeupCountsFile = "run/vmnuma-wakeups/counts";
inline constexpr placement::Microseconds kMostWakeupsPeriod{60'000'000};

struct PidWakeups {
  std::int64_t a = 0;  ///< < b
  std::int64_t b = 0;
  std::int64_t count = 0;
  bool operator==(const PidWakeups&) const = default;
};

struct WakeupCounts {
  placement::Microseconds taken_at;  ///< monotonic
  placement::Microseconds period;    ///< whole milliseconds
  std::vector<PidWakeups> pairs;     ///< by a, b
  bool operator==(const WakeupCounts&) const = default;
};

[[nodiscard]] std::string text_of(const WakeupCounts& counts);

/// Error: corrupt.
[[nodiscard]] Result<WakeupCounts> parse_wakeup_counts(std::string_view text);

/// False once five periods have passed without a new file: nobody counts any more. `now`:
/// monotonic.
[[nodiscard]] bool is_current(const WakeupCounts& counts, placement::Microseconds now);

}  // namespace vmnuma::stats
