// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/table.h"

#include <algorithm>
#include <utility>

#include "placement/base/result.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

void Table::add_row(std::vector<std::string> cells) {
  VMNUMA_CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    cell = printable(cell);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::string> lines(1 + rows_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto& [header, align] = columns_[i];
    std::size_t widest = width_of(header);
    for (const auto& row : rows_) {
      widest = std::max(widest, width_of(row[i]));
    }
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const std::string& cell = line == 0 ? header : rows_[line - 1][i];
      const std::string padding(widest - width_of(cell), ' ');
      lines[line] += i == 0 ? "" : "  ";
      lines[line] += align == Align::kRight ? padding + cell : cell + padding;
    }
  }
  std::string out;
  for (const std::string& line : lines) {
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace vmnuma::tools
