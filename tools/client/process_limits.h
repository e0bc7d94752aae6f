// SPDX-License-Identifier: Apache-2.0
/// Resource limits for a process that reads foreign data.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "placement/base/result.h"

namespace vmnuma::tools {

struct ProcessLimits {
  std::int64_t memory_bytes = 0;  ///< of address space beyond what it uses now
  std::optional<std::chrono::seconds> cpu_time = {};
};

/// For a program that plays a recording: a day on a large host takes minutes and a few hundred
/// megabytes.
inline constexpr ProcessLimits kPlaybackLimits{.memory_bytes = std::int64_t{2} << 30U,
                                               .cpu_time = std::chrono::hours(1)};

/// Limits this process permanently, and disables core files. Errors: those of setrlimit(2).
[[nodiscard]] Result<void> limit_this_process(const ProcessLimits& limits);

}  // namespace vmnuma::tools
