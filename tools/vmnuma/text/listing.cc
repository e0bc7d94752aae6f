// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/listing.h"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "balancer/protocol/time_text.h"
#include "placement/base/mapped.h"
#include "placement/base/result.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

std::string number_or_nothing(const std::optional<std::int64_t>& figure) {
  return figure ? std::to_string(*figure) : "";
}

std::string table_text(const Listing& listing, bool is_wide) {
  std::vector<Table::Column> columns;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < listing.columns.size(); ++i) {
    const Listing::Column& column = listing.columns[i];
    if (is_wide || column.shown == Listing::Shown::kAlways) {
      columns.push_back({column.title, column.align});
      shown.push_back(i);
    }
  }
  Table table(std::move(columns));
  for (const Listing::Row& row : listing.rows) {
    std::vector<std::string> cells;
    cells.reserve(shown.size());
    for (const std::size_t i : shown) {
      cells.push_back(row[i].text);
    }
    table.add_row(std::move(cells));
  }
  return table.text();
}

/// Returns one line of CSV (RFC 4180).
std::string csv_line(std::vector<std::string> fields) {
  for (std::string& field : fields) {
    if (field.find_first_of(",\"\n") != std::string::npos) {
      for (auto at = field.find('"'); at != std::string::npos; at = field.find('"', at + 2)) {
        field.insert(at, 1, '"');
      }
      field = fmt::format("\"{}\"", field);
    }
  }
  return fmt::format("{}\n", fmt::join(fields, ","));
}

std::string csv_text(const Listing& listing) {
  std::vector<std::string> keys = mapped(listing.columns, &Listing::Column::key);
  std::string text = csv_line(std::move(keys));
  for (const Listing::Row& row : listing.rows) {
    std::vector<std::string> values;
    for (const Listing::Cell& cell : row) {
      values.push_back(printable(cell.value));
    }
    text += csv_line(std::move(values));
  }
  return text;
}

std::string names_text(const Listing& listing) {
  std::string text;
  std::set<std::string> seen;
  for (const std::string& name : listing.names) {
    if (seen.insert(name).second) {
      text += printable(name) + "\n";
    }
  }
  return text;
}

}  // namespace

Listing::Cell cell(std::string_view word) {
  return {std::string(word), std::string(word)};
}

Listing::Cell cell_if_any(std::string_view word) {
  return {word.empty() ? "-" : std::string(word), std::string(word)};
}

Listing::Cell cell(const std::optional<std::int64_t>& figure) {
  return {figure_text(figure), number_or_nothing(figure)};
}

Listing::Cell bytes_cell(const std::optional<std::int64_t>& bytes) {
  return {bytes_text(bytes), number_or_nothing(bytes)};
}

Listing::Cell permille_cell(const std::optional<std::int64_t>& permille) {
  return {permille_text(permille), number_or_nothing(permille)};
}

Listing::Cell time_cell(std::int64_t unix_s) {
  return {local_time_text(unix_s), balancer::time_text(unix_s)};
}

std::string text_of(const Listing& listing, ListFormat format) {
  switch (format) {
    case ListFormat::kTable:
    case ListFormat::kWide:
      return table_text(listing, format == ListFormat::kWide);
    case ListFormat::kCsv:
      return csv_text(listing);
    case ListFormat::kName:
    case ListFormat::kJson:
      break;
  }
  VMNUMA_CHECK(format == ListFormat::kName);
  return names_text(listing);
}

}  // namespace vmnuma::tools
