// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/time_text.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "placement/base/number.h"

namespace vmnuma::balancer {

namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::month;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr sys_seconds kFirst = sys_days(year(0) / 1 / 1);
constexpr sys_seconds kLast = sys_days(year(10000) / 1 / 1) - seconds(1);

/// The digits of `text` as a number, or -1.
int digits(std::string_view text) {
  const auto value = whole_number<unsigned>(text);
  return value ? static_cast<int>(*value) : -1;
}

}  // namespace

std::string time_text(std::int64_t unix_s) {
  const sys_seconds time = std::clamp(sys_seconds(seconds(unix_s)), kFirst, kLast);
  const auto midnight = std::chrono::floor<days>(time);
  const year_month_day date(midnight);
  const std::int64_t second = (time - midnight).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     second / 3600, second / 60 % 60, second % 60);
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  if (text.size() != 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text[19] != 'Z') {
    return std::nullopt;
  }
  const int years = digits(text.substr(0, 4));
  const int months = digits(text.substr(5, 2));
  const int month_days = digits(text.substr(8, 2));
  const int hour = digits(text.substr(11, 2));
  const int minute = digits(text.substr(14, 2));
  const int second = digits(text.substr(17, 2));
  if (std::min({years, months, month_days, hour, minute, second}) < 0 || hour > 23 || minute > 59 ||
      second > 59) {
    return std::nullopt;
  }
  const year_month_day date(year(years), month(static_cast<unsigned>(months)),
                            day(static_cast<unsigned>(month_days)));
  if (!date.ok()) {
    return std::nullopt;
  }
  return (sys_days(date).time_since_epoch() + std::chrono::hours(hour) +
          std::chrono::minutes(minute) + seconds(second))
      .count();
}

}  // namespace vmnuma::balancer
