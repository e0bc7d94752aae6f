// SPDX-License-Identifier: Apache-2.0
/// Times of day as text: "2025-01-31T12:00:00Z" (RFC 3339, UTC, whole seconds).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vmnuma::balancer {

/// Formats a time. Years 0000 to 9999; times outside are clamped.
[[nodiscard]] std::string time_text(std::int64_t unix_s);

/// Parses exactly that form; nothing if the form differs or no such time exists.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace vmnuma::balancer
