// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/table.h"

#include <algorithm>
#include <utility>

#include "placement/base/result.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

constexpr std::size_t kGap = 2;

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  VMNUMA_CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    cell = printable(cell);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = width_of(columns_[i].header);
    for (const auto& row : rows_) {
      widest = std::max(widest, width_of(row[i]));
    }
    widths.push_back(widest);
  }
  const auto line_of = [this, &widths](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = cell_of(i);
      const std::string padding(widths[i] - width_of(cell), ' ');
      line += i == 0 ? "" : std::string(kGap, ' ');
      line += columns_[i].align == Align::kRight ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  };
  std::string out = line_of([this](std::size_t i) { return columns_[i].header; });
  for (const auto& row : rows_) {
    out += line_of([&row](std::size_t i) { return row[i]; });
  }
  return out;
}

}  // namespace vmnuma::tools
