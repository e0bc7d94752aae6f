// SPDX-License-Identifier: Apache-2.0
/// Times on the command line, such as that in `vmnuma history --since WHEN`.
#pragma once

#include <cstdint>
#include <string_view>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Reads "90s", "30m", "2h", "7d" before now, or a time in the time zone of the environment (TZ):
/// "2025-01-31", "2025-01-31 13:00" or "2025-01-31 13:00:00"; or in UTC: "2025-01-31T12:00:00Z".
/// Error: invalid-argument.
[[nodiscard]] Result<std::int64_t> parse_since(std::string_view text, std::int64_t now_unix_s);

/// Reads such a time, but no age. Error: invalid-argument.
[[nodiscard]] Result<std::int64_t> parse_when(std::string_view text);

/// Reads "90s", "30m", "2h" or "7d", in seconds. Error: invalid-argument.
[[nodiscard]] Result<std::int64_t> parse_duration(std::string_view text);

}  // namespace vmnuma::tools
