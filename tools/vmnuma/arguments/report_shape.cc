// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/report_shape.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "placement/model/suggest.h"
#include "stats/reports/tables.h"
#include "tools/vmnuma/text/listing.h"

namespace vmnuma::tools {

namespace {

using stats::Cell;
using stats::Report;

/// Returns a table of that type without rows; nothing for an unknown type.
std::optional<Report> empty_table(const std::string& type) {
  for (Report table : {stats::pnode_table({}), stats::client_table({}), stats::migration_table({}),
                       stats::cnode_table({}), stats::latency_table({}), stats::global_table({})}) {
    if (table.type == type) {
      return table;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> column_of(const Report& report, std::string_view name) {
  const auto found = std::find(report.columns.begin(), report.columns.end(), name);
  return found == report.columns.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(found - report.columns.begin()));
}

/// Returns the column with a row's number: that of its group, or of the node in a table of nodes.
std::optional<std::size_t> id_column(const Report& report) {
  for (const char* name : {"groupID", "nodeID", "cpuNode"}) {
    if (const auto column = column_of(report, name)) {
      return column;
    }
  }
  return std::nullopt;
}

/// Adds our own columns, if the table has them: the VM's name before ESXi's columns, the time of
/// other processes after them.
Report with_columns_of_ours(Report report) {
  const auto add = [&report](std::string_view name, bool in_front) {
    const auto found = std::find(report.extra_columns.begin(), report.extra_columns.end(), name);
    if (found == report.extra_columns.end()) {
      return;
    }
    const auto column = static_cast<std::size_t>(found - report.extra_columns.begin());
    const auto place = [in_front](auto& list) { return in_front ? list.begin() : list.end(); };
    report.columns.emplace(place(report.columns), name);
    for (std::size_t i = 0; i < std::min(report.rows.size(), report.extra_cells.size()); ++i) {
      report.rows[i].insert(place(report.rows[i]), report.extra_cells[i][column]);
    }
  };
  add(stats::kVmNameColumn, /*in_front=*/true);
  add(stats::kNonVmColumn, /*in_front=*/false);
  return report;
}

/// Returns whether the row belongs to that group, given by its name or number.
bool is_of_group(const Report& report, const std::vector<Cell>& row, const std::string& group) {
  const auto name = column_of(report, "groupName");
  const auto id = id_column(report);
  return (name && stats::cell_text(row[*name]) == group) ||
         (id && stats::cell_text(row[*id]) == group);
}

bool is_wanted(const Report& report, const std::vector<Cell>& row, const ReportShape& shape) {
  const auto id = id_column(report);
  if (!shape.ids.empty() && id) {
    const auto* number = std::get_if<std::int64_t>(&row[*id]);
    if (number == nullptr ||
        std::find(shape.ids.begin(), shape.ids.end(), *number) == shape.ids.end()) {
      return false;
    }
  }
  return shape.group.empty() || is_of_group(report, row, shape.group);
}

Report shaped(const Report& report, const ReportShape& shape) {
  std::vector<std::size_t> kept;
  for (const std::string& name : shape.columns.empty() ? report.columns : shape.columns) {
    if (const auto column = column_of(report, name)) {
      kept.push_back(*column);
    }
  }
  Report out;
  out.type = report.type;
  for (const std::size_t column : kept) {
    out.columns.push_back(report.columns[column]);
  }
  for (const std::vector<Cell>& row : report.rows) {
    if (is_wanted(report, row, shape)) {
      std::vector<Cell>& cells = out.rows.emplace_back();
      for (const std::size_t column : kept) {
        cells.push_back(row[column]);
      }
    }
  }
  return out;
}

}  // namespace

Result<void> check_shape(const ReportShape& shape, const std::string& type) {
  const auto table = empty_table(type);
  if (!table) {
    return failure(ErrorCode::kNotFound, fmt::format("there is no table '{}'{}", type,
                                                     did_you_mean(type, stats::report_types())));
  }
  const std::vector<std::string_view> known(table->columns.begin(), table->columns.end());
  for (const std::string& name : shape.columns) {
    if (!column_of(*table, name)) {
      return failure(ErrorCode::kNotFound,
                     fmt::format("{} has no column '{}'{}", type, name, did_you_mean(name, known)));
    }
  }
  if (!shape.ids.empty() && !id_column(*table)) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("rows of {} have no number by which to choose them", type));
  }
  if (!shape.group.empty() && !column_of(*table, "groupID")) {
    return failure(ErrorCode::kInvalidArgument, fmt::format("rows of {} have no group", type));
  }
  return {};
}

Result<void> check_group(const Report& report, const ReportShape& shape) {
  const auto is_it = [&](const std::vector<Cell>& row) {
    return is_of_group(report, row, shape.group);
  };
  if (shape.group.empty() || std::any_of(report.rows.begin(), report.rows.end(), is_it)) {
    return {};
  }
  return failure(ErrorCode::kNotFound,
                 fmt::format("{} has no group '{}'", report.type, shape.group));
}

std::string text_of(const Report& report, const ReportShape& shape) {
  const Report wanted = shaped(
      shape.for_scripts ? stats::with_numbers_only(report) : with_columns_of_ours(report), shape);
  return shape.format == ListFormat::kTable || shape.format == ListFormat::kWide
             ? text_of(wanted)
             : text_of(listing_of(wanted), shape.format);
}

}  // namespace vmnuma::tools
