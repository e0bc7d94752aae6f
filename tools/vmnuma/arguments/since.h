// SPDX-License-Identifier: Apache-2.0
/// Parses times on the command line, such as in `vmnuma history --since WHEN`.
#pragma once

#include <cstdint>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Parses an age, such as "90s", "30m", "2h", "7d", "1w" or "2d5h", or a time in the time zone of
/// the environment (TZ): "2025-01-31", "2025-01-31 13:00" or "2025-01-31T13:00:00", or the
/// beginning of "today" or "yesterday"; or in UTC: "2025-01-31T12:00:00Z". Returns Unix time in
/// seconds. Error: invalid-argument, also for an age of more than 100000 days.
[[nodiscard]] Result<std::int64_t> parse_since(std::string_view text, std::int64_t now_unix_s);

/// Likewise, but accepts no age and no day by its name. Error: invalid-argument.
[[nodiscard]] Result<std::int64_t> parse_when(std::string_view text);

/// Parses such an age, and returns it in seconds. Error: invalid-argument.
[[nodiscard]] Result<std::int64_t> parse_duration(std::string_view text);

}  // namespace vmnuma::tools
