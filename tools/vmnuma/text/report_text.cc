// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "stats/reports/tables.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

std::string text_of(const stats::Report& report) {
  if (std::ranges::find(report.columns, stats::kVmNameColumn) != report.columns.end()) {
    return text_of(listing_of(report), ListFormat::kTable);
  }
  stats::Report safe = report;
  for (auto& row : safe.rows) {
    for (stats::Cell& cell : row) {
      if (auto* word = std::get_if<std::string>(&cell)) {
        *word = printable(*word);
      }
    }
  }
  return stats::format_report(safe);
}

Listing listing_of(const stats::Report& report) {
  Listing listing;
  for (const std::string& column : report.columns) {
    listing.columns.push_back({column, column});
  }
  for (const std::vector<stats::Cell>& row : report.rows) {
    Listing::Row& cells = listing.rows.emplace_back();
    for (const stats::Cell& value : row) {
      const auto* number = std::get_if<std::int64_t>(&value);
      const auto* word = std::get_if<std::string>(&value);
      cells.push_back(number != nullptr ? cell(*number)
                                        : cell_if_any(word == nullptr ? "" : *word));
    }
    listing.names.push_back(cells.front().value);
  }
  return listing;
}

}  // namespace vmnuma::tools
