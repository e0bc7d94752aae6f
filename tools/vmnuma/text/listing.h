// SPDX-License-Identifier: Apache-2.0
/// Formats lists in the formats of `-o`.
///
/// Approach: a command defines the columns and rows once, for humans and for programs; every format
/// is derived from that, except JSON, which is the daemon's unchanged answer.
///
/// Properties:
///  - an unknown value is "-" for humans and empty in CSV;
///  - a column has the same place in each row;
///  - a name is printed as it would be typed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/model/view.h"
#include "stats/reports/report.h"
#include "tools/vmnuma/text/list_format.h"
#include "tools/vmnuma/text/table.h"

namespace vmnuma::tools {

struct Listing {
  enum class Shown { kAlways, kWide };  ///< kWide: in wide tables and in CSV
  struct Column {
    std::string key;    ///< in CSV
    std::string title;  ///< in a table
    Table::Align align = Table::Align::kLeft;
    Shown shown = Shown::kAlways;
  };
  struct Cell {
    std::string text;   ///< for humans
    std::string value;  ///< for programs
  };
  using Row = std::vector<Cell>;

  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<std::string> names;  ///< of the rows' subjects; may contain duplicates
};

using Shown = Listing::Shown;

/// Returns a cell with the same word for humans and programs.
[[nodiscard]] Listing::Cell cell(std::string_view word);
/// Likewise; an empty word is an unknown value.
[[nodiscard]] Listing::Cell cell_if_any(std::string_view word);
[[nodiscard]] Listing::Cell cell(const std::optional<std::int64_t>& figure);
[[nodiscard]] Listing::Cell bytes_cell(const std::optional<std::int64_t>& bytes);
[[nodiscard]] Listing::Cell permille_cell(const std::optional<std::int64_t>& permille);
/// Returns a cell with a time, in CSV as "2025-01-31T12:00:00Z".
[[nodiscard]] Listing::Cell time_cell(std::int64_t unix_s);

/// Returns the header and a line per row, as a table or as CSV; for kName the names. Not for kJson.
[[nodiscard]] std::string text_of(const Listing& listing, ListFormat format);

[[nodiscard]] Listing listing_of(const balancer::HistoryView& view);
[[nodiscard]] Listing listing_of(const balancer::EventsView& view);
[[nodiscard]] Listing listing_of(const balancer::ReservationHistoryView& view);
[[nodiscard]] Listing listing_of(const balancer::OptionsView& view);
[[nodiscard]] Listing listing_of(const balancer::ConfigView& view);
[[nodiscard]] Listing listing_of(const balancer::PolicyView& view);
[[nodiscard]] Listing listing_of(const balancer::MemoryView& view);
[[nodiscard]] Listing listing_of(const balancer::ReservationsView& view);
/// Converts a report; its first column names the rows' subjects.
[[nodiscard]] Listing listing_of(const stats::Report& report);

/// If the report has names of VMs, formats it for people; otherwise exactly as sched-stats prints
/// it, for scripts: cells have no blanks. Columns may be wider than a terminal.
[[nodiscard]] std::string text_of(const stats::Report& report);

}  // namespace vmnuma::tools
