// SPDX-License-Identifier: Apache-2.0
/// The figures of a report in a few numbers. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stats/history/past.h"

namespace vmnuma::tools {

/// Averages over time; the highest is that of one sample.
struct NodeSummary {
  std::int32_t node = 0;
  std::int64_t load_permille = 0;
  std::int64_t highest_load_permille = 0;
  std::int64_t owed_permille = 0;  ///< of its capacity
};

/// All actions of one reason.
struct ReasonSummary {
  std::string reason;
  std::int64_t done = 0;
  std::int64_t undone = 0;
  std::int64_t dropped = 0;
  std::int64_t open = 0;
  std::int64_t measured = 0;     ///< of them; the two below are theirs
  std::int64_t promised_ms = 0;  ///< lost time saved per epoch
  std::int64_t brought_ms = 0;
};

struct ReportSummary {
  std::vector<NodeSummary> nodes;      ///< by number
  std::vector<ReasonSummary> reasons;  ///< by name
  std::optional<std::int64_t> locality_first_permille;
  std::optional<std::int64_t> locality_last_permille;
  std::int64_t moved_bytes = 0;
};

[[nodiscard]] ReportSummary summary_of(const stats::Past& past);

}  // namespace vmnuma::tools
