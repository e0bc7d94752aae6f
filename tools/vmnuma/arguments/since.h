// SPDX-License-Identifier: Apache-2.0
/// Times on the command line, such as that in `vmnuma history --since WHEN`.
#pragma once

#include <cstdint>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Reads an age, such as "90s", "30m", "2h", "7d", "1w" or "2d5h", or a time in the time zone of
/// the environment (TZ): "2025-01-31", "2025-01-31 13:00" or "2025-01-31T13:00:00", or the
/// beginning of "today" or "yesterday"; or in UTC: "2025-01-31T12:00:00Z". Error: invalid-argument,
/// also for an age of more than 100000 days.
[[nodiscard]] Result<std::int64_t> parse_since(std::string_view text, std::int64_t now_unix_s);

/// Reads such a time, but no age or day by its name. Error: invalid-argument.
[[nodiscard]] Result<std::int64_t> parse_when(std::string_view text);

/// Reads such an age, in seconds. Error: invalid-argument.
[[nodiscard]] Result<std::int64_t> parse_duration(std::string_view text);

}  // namespace vmnuma::tools
