// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/wakeup_counts.h"

#include <cstdlib>
#include <optional>
#include <tuple>

#include "stats/formats/fields.h"

namespace vmnuma::stats {

namespace {

constexpr std::string_view kFirstWords = "vmnuma-wakeups 1 ";
constexpr std::string_view kFormat = "a file of vmnuma-wakeups";
constexpr std::int64_t kPeriodsUntilStale = 5;

std::optional<WakeupCounts> parse_first_line(std::string_view line) {
  auto rest = after(line, kFirstWords);
  if (!rest) {
    return std::nullopt;
  }
  const auto taken_us = take_number<std::int64_t>(*rest);
  const auto period_ms = take_number<std::int64_t>(*rest);
  if (!taken_us || !period_ms || take_word(*rest) || *period_ms == 0 ||
      *period_ms > kMostWakeupsPeriod.value / 1000) {
    return std::nullopt;
  }
  return WakeupCounts{Microseconds{*taken_us}, Microseconds{*period_ms * 1000}, {}};
}

std::optional<PidWakeups> parse_pair(std::string_view line) {
  const auto a = take_number<std::int64_t>(line);
  const auto b = take_number<std::int64_t>(line);
  const auto count = take_number<std::int64_t>(line);
  if (!a || !b || !count || take_word(line) || *a >= *b) {
    return std::nullopt;
  }
  return PidWakeups{*a, *b, *count};
}

}  // namespace

std::string text_of(const WakeupCounts& counts) {
  std::string text(kFirstWords);
  text += std::to_string(counts.taken_at.value) + ' ' + std::to_string(counts.period.value / 1000);
  text += '\n';
  for (const PidWakeups& pair : counts.pairs) {
    text += std::to_string(pair.a) + ' ' + std::to_string(pair.b) + ' ' +
            std::to_string(pair.count) + '\n';
  }
  return text;
}

Result<WakeupCounts> parse_wakeup_counts(std::string_view text) {
  VMNUMA_RETURN_IF_ERROR(check_complete(text, kFormat));
  const std::string_view first = take_line(text).value_or("");
  std::optional<WakeupCounts> counts = parse_first_line(first);
  if (!counts) {
    return bad_line(kFormat, first);
  }
  while (const auto line = take_line(text)) {
    const std::optional<PidWakeups> pair = parse_pair(*line);
    if (!pair ||
        (!counts->pairs.empty() &&
         std::tie(counts->pairs.back().a, counts->pairs.back().b) >= std::tie(pair->a, pair->b))) {
      return bad_line(kFormat, *line);
    }
    counts->pairs.push_back(*pair);
  }
  return *counts;
}

bool is_current(const WakeupCounts& counts, Microseconds now) {
  // The file may have been written after the reader's epoch began.
  const std::int64_t age_us = std::abs(now.value - counts.taken_at.value);
  return age_us <= kPeriodsUntilStale * counts.period.value;
}

}  // namespace vmnuma::stats
