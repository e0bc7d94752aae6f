// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/since.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>

#include "balancer/protocol/time_text.h"
#include "placement/base/number.h"

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kDaySeconds = 86400;

/// Returns the seconds of a unit; 0 if it is not a unit.
std::int64_t seconds_of_unit(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return kDaySeconds;
    case 'w':
      return 7 * kDaySeconds;
    default:
      return 0;
  }
}

/// Returns the seconds in "30m" or "2d5h", or nothing.
std::optional<std::int64_t> parse_age(std::string_view text) {
  constexpr std::int64_t kLongest = 100000 * kDaySeconds;
  if (text.empty()) {
    return std::nullopt;
  }
  std::int64_t age = 0;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = whole_number<std::int64_t>(text.substr(0, digits));
    const std::int64_t unit = digits < text.size() ? seconds_of_unit(text[digits]) : 0;
    if (!number || unit == 0 || *number > (kLongest - age) / unit) {
      return std::nullopt;
    }
    age += *number * unit;
    text.remove_prefix(digits + 1);
  }
  return age;
}

/// Returns the beginning of today or yesterday in the local time zone, or nothing.
std::optional<std::int64_t> parse_day(std::string_view text, std::int64_t now_unix_s) {
  if (text != "today" && text != "yesterday") {
    return std::nullopt;
  }
  const auto now = static_cast<std::time_t>(now_unix_s);
  std::tm parts{};
  if (::localtime_r(&now, &parts) == nullptr) {
    return std::nullopt;
  }
  parts.tm_mday -= text == "yesterday" ? 1 : 0;
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  parts.tm_isdst = -1;  // the time zone decides
  return static_cast<std::int64_t>(std::mktime(&parts));
}

/// Parses a time of the local time zone, or returns nothing.
std::optional<std::int64_t> parse_local(std::string_view text) {
  // Completes the text to the longest form; parsing that as UTC rejects impossible dates.
  constexpr std::string_view kRest = "0000-00-00 00:00:00";
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) {
    return std::nullopt;
  }
  std::string full = std::string(text) + std::string(kRest.substr(text.size())) + "Z";
  if (full[10] != ' ' && full[10] != 'T') {
    return std::nullopt;
  }
  full[10] = 'T';
  const auto as_if_utc = balancer::parse_time(full);
  if (!as_if_utc) {
    return std::nullopt;
  }
  const auto time = static_cast<std::time_t>(*as_if_utc);
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) {
    return std::nullopt;
  }
  parts.tm_isdst = -1;  // the time zone decides
  return static_cast<std::int64_t>(std::mktime(&parts));
}

}  // namespace

Result<std::int64_t> parse_since(std::string_view text, std::int64_t now_unix_s) {
  if (const auto age = parse_age(text)) {
    return now_unix_s - *age;
  }
  if (const auto day = parse_day(text, now_unix_s)) {
    return *day;
  }
  if (const auto time = parse_when(text)) {
    return *time;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "'" + std::string(text) +
                     "' is not a time; write an age such as 30m, 2h, 7d or 2d5h, or a time such as "
                     "yesterday, '2025-01-31' or '2025-01-31 13:00'");
}

Result<std::int64_t> parse_when(std::string_view text) {
  if (const auto time = balancer::parse_time(text)) {
    return *time;
  }
  if (const auto time = parse_local(text)) {
    return *time;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "'" + std::string(text) +
                     "' is not a time; write one such as '2025-01-31' or '2025-01-31 13:00'");
}

Result<std::int64_t> parse_duration(std::string_view text) {
  if (const auto seconds = parse_age(text)) {
    return *seconds;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "'" + std::string(text) + "' is not a duration; write 30m, 2h or 7d");
}

}  // namespace vmnuma::tools
