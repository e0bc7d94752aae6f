// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/since.h"

#include <charconv>
#include <ctime>
#include <optional>
#include <string>

#include "balancer/protocol/time_text.h"

namespace vmnuma::tools {

namespace {

/// Seconds in "30m", or nothing.
std::optional<std::int64_t> parse_age(std::string_view text) {
  constexpr std::int64_t kLongest = 100000;  // of any unit
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end + 1 != text.data() + text.size() || number < 0 ||
      number > kLongest) {
    return std::nullopt;
  }
  switch (*end) {
    case 's':
      return number;
    case 'm':
      return number * 60;
    case 'h':
      return number * 3600;
    case 'd':
      return number * 86400;
    default:
      return std::nullopt;
  }
}

/// A time of the local time zone, or nothing.
std::optional<std::int64_t> parse_local(std::string_view text) {
  // The rest of the longest form; checking it as UTC rejects impossible dates.
  constexpr std::string_view kRest = "0000-00-00 00:00:00";
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) {
    return std::nullopt;
  }
  std::string full = std::string(text) + std::string(kRest.substr(text.size())) + "Z";
  if (full[10] != ' ') {
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
  if (const auto time = parse_when(text)) {
    return *time;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "'" + std::string(text) +
                     "' is no time; write an age such as 30m, 2h or 7d, or a time such as "
                     "'2025-01-31' or '2025-01-31 13:00'");
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
                     "' is no time; write one such as '2025-01-31' or '2025-01-31 13:00'");
}

Result<std::int64_t> parse_duration(std::string_view text) {
  if (const auto seconds = parse_age(text)) {
    return *seconds;
  }
  return failure(ErrorCode::kInvalidArgument,
                 "'" + std::string(text) + "' is not as long as anything; write 30m, 2h or 7d");
}

}  // namespace vmnuma::tools
