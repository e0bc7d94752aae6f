// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/report_text.h"

#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

std::string text_of(const stats::Report& report) {
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
      const auto* word = std::get_if<std::string>(&cell);  // in a table it has no blanks
      const bool is_known = !std::holds_alternative<stats::NoValue>(cell);
      cells.push_back({stats::cell_text(cell), word != nullptr ? *word
                                               : is_known      ? stats::cell_text(cell)
                                                               : ""});
    }
    listing.names.push_back(cells.front().value);
  }
  return listing;
}

}  // namespace vmnuma::tools
