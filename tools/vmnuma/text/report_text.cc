// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/report_text.h"

#include <algorithm>

#include "stats/reports/tables.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

std::string text_of(const stats::Report& report) {
  if (std::find(report.columns.begin(), report.columns.end(), stats::kVmNameColumn) !=
      report.columns.end()) {
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
    for (const stats::Cell& cell : row) {
      if (const auto* word = std::get_if<std::string>(&cell)) {
        cells.push_back({word->empty() ? "-" : *word, *word});
      } else {
        const bool is_known = !std::holds_alternative<stats::NoValue>(cell);
        cells.push_back({stats::cell_text(cell), is_known ? stats::cell_text(cell) : ""});
      }
    }
    listing.names.push_back(cells.front().value);
  }
  return listing;
}

}  // namespace vmnuma::tools
