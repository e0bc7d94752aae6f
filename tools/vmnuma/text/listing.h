// SPDX-License-Identifier: Apache-2.0
/// Rows of something, in the formats that `-o` names.
///
/// Approach: a command says once which columns there are and what is in each row, for people and
/// for programs; every format but JSON, which is the daemon's answer as it is, follows from that.
/// Properties: what is not known is "-" for people and empty in CSV; a column has the same place in
/// each row; a name is printed as it is typed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
    std::string text;   ///< for people
    std::string value;  ///< for programs
  };
  using Row = std::vector<Cell>;

  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<std::string> names;  ///< of what the rows are about; may have one several times
};

using Shown = Listing::Shown;

/// A word is the same for both.
[[nodiscard]] Listing::Cell cell(std::string word);
[[nodiscard]] Listing::Cell cell(const char* word);
[[nodiscard]] Listing::Cell cell(std::int64_t number);
[[nodiscard]] Listing::Cell cell(const std::optional<std::int64_t>& figure);
[[nodiscard]] Listing::Cell bytes_cell(const std::optional<std::int64_t>& bytes);
[[nodiscard]] Listing::Cell permille_cell(const std::optional<std::int64_t>& permille);
/// In CSV as "2025-01-31T12:00:00Z".
[[nodiscard]] Listing::Cell time_cell(std::int64_t unix_s);

/// The header and a line a row, as a table or as CSV; of kName the names. Not of kJson.
[[nodiscard]] std::string text_of(const Listing& listing, ListFormat format);

/// One line of RFC 4180.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& fields);

[[nodiscard]] Listing listing_of(const balancer::HistoryView& view);
[[nodiscard]] Listing listing_of(const balancer::EventsView& view);
[[nodiscard]] Listing listing_of(const balancer::ReservationHistoryView& view);
[[nodiscard]] Listing listing_of(const balancer::OptionsView& view);
[[nodiscard]] Listing listing_of(const balancer::ConfigView& view);
[[nodiscard]] Listing listing_of(const balancer::PolicyView& view);
[[nodiscard]] Listing listing_of(const balancer::MemoryView& view);
[[nodiscard]] Listing listing_of(const balancer::ReservationsView& view);
/// The first column names what the rows are about.
[[nodiscard]] Listing listing_of(const stats::Report& report);

}  // namespace vmnuma::tools
