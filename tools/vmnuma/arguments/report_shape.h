// SPDX-License-Identifier: Apache-2.0
/// Selects the part of a table that sched-stats prints, and its format. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "placement/base/result.h"
#include "stats/reports/report.h"
#include "tools/vmnuma/text/list_format.h"

namespace vmnuma::tools {

struct ReportShape {
  std::vector<std::int64_t> ids;     ///< only rows of these groups or nodes; all if empty
  std::string group;                 ///< only this group, by its name or number; all if empty
  std::vector<std::string> columns;  ///< only these, in this order; all if empty
  ListFormat format{};
  bool for_scripts = false;  ///< only ESXi's columns, without VMs' names, and a number in each cell
  bool operator==(const ReportShape&) const = default;
};

/// Checks that a table of that type has what the shape selects. Errors: not-found (no such column,
/// with the most similar name), invalid-argument (rows without a group or number).
[[nodiscard]] Result<void> check_shape(const ReportShape& shape, const std::string& type);

/// Checks that a table has rows of the group that the shape selects. Error: not-found.
[[nodiscard]] Result<void> check_group(const stats::Report& report, const ReportShape& shape);

/// Returns the table as text. `shape` must have passed check_shape().
[[nodiscard]] std::string text_of(const stats::Report& report, const ReportShape& shape);

}  // namespace vmnuma::tools
