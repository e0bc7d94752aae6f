// SPDX-License-Identifier: Apache-2.0
#include "migration/outcome.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace vmnuma::migration {

Bytes Outcome::unmovable() const {
  return std::accumulate(left_by_reason.begin(), left_by_reason.end(), Bytes{});
}

Outcome& Outcome::operator+=(const Outcome& other) {
  moved += other.moved;
  already_home += other.already_home;
  absent += other.absent;
  for (std::size_t i = 0; i < kLeftoverCount; ++i) {
    left_by_reason[i] += other.left_by_reason[i];
  }
  left += other.left;
  calls += other.calls;
  stalls += other.stalls;
  long_stalls += other.long_stalls;
  longest = std::max(longest, other.longest);
  return *this;
}

std::string to_text(Bytes bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < kKiB) {
    return fmt::format("{} B", bytes.value);
  }
  std::size_t unit = 0;
  std::int64_t scale = kKiB.value;
  while (unit + 1 < std::size(kUnits) && bytes.value / 1024 >= scale) {
    scale *= 1024;
    ++unit;
  }
  return fmt::format("{}.{} {}", bytes.value / scale, bytes.value % scale * 10 / scale,
                     kUnits[unit]);
}

std::string describe(const Outcome& outcome) {
  std::string text =
      fmt::format("moved {}, left {}", to_text(outcome.moved), to_text(outcome.left));
  std::string reasons;
  for (std::size_t i = 0; i < kLeftoverCount; ++i) {
    if (outcome.left_by_reason[i] > Bytes{}) {
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ",
                             to_text(outcome.left_by_reason[i]), name_of(static_cast<Leftover>(i)));
    }
  }
  if (!reasons.empty()) {
    text += fmt::format(" ({})", reasons);
  }
  if (outcome.calls > 0) {
    text += fmt::format("; {} calls, the longest {}.{} ms", outcome.calls,
                        outcome.longest.value / 1000, outcome.longest.value % 1000 / 100);
  }
  if (outcome.long_stalls > 0) {
    text += fmt::format(", {} above twice the target", outcome.long_stalls);
  }
  return text;
}

}  // namespace vmnuma::migration
