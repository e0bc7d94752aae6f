// SPDX-License-Identifier: Apache-2.0
/// The tables of `vmnuma stats`, which are those of ESXi's sched-stats: one header row, then rows
/// of cells that contain no blanks, so that awk can select columns by number.
///
/// Columns, their order and units are taken from public sched-stats output of ESXi 6.5 to 8.0. Text
/// and JSON are made from the same Report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace vmnuma::stats {

/// A value that is unknown or does not exist on this kind of host: "-" in text, null in JSON.
struct NoValue {
  bool operator==(const NoValue&) const = default;
};

/// A number, a word without blanks, or nothing.
using Cell = std::variant<std::int64_t, std::string, NoValue>;

struct Report {
  std::string type;                  ///< "numa-pnode"
  std::vector<std::string> columns;  ///< names of the cells
  std::vector<std::vector<Cell>> rows;
  /// Additional fields in JSON, per row: names, and values for which the table has no column.
  std::vector<std::string> extra_columns;
  std::vector<std::vector<Cell>> extra_cells;
  bool operator==(const Report&) const = default;
};

/// Returns the existing types, in the order in which `-h` lists them.
[[nodiscard]] const std::vector<std::string_view>& report_types();

/// Formats the table as text, with columns left-aligned and separated by two blanks, each line
/// terminated by '\n'. numa-global is not a table and becomes "name: value" lines.
[[nodiscard]] std::string format_report(const Report& report);

/// Returns the text of one cell.
[[nodiscard]] std::string cell_text(const Cell& cell);

}  // namespace vmnuma::stats
