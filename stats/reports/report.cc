// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/report.h"

#include <algorithm>

namespace vmnuma::stats {
namespace {

void append_row(std::string& text, const std::vector<std::string>& cells,
                const std::vector<std::size_t>& widths) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += cells[i];
    if (i + 1 < cells.size()) {
      text.append(widths[i] - cells[i].size() + 2, ' ');
    }
  }
  text += '\n';
}

// Formats "name: value" lines, as sched-stats prints everything that is not a table.
std::string format_pairs(const Report& report) {
  std::string text;
  for (const std::vector<Cell>& row : report.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += cell_text(row[i]);
      text += i + 1 < row.size() ? ": " : "\n";
    }
  }
  return text;
}

}  // namespace

const std::vector<std::string_view>& report_types() {
  static const std::vector<std::string_view> types = {
      "numa-clients", "numa-migration", "numa-cnode", "numa-pnode", "numa-latency", "numa-global"};
  return types;
}

std::string cell_text(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    return std::to_string(*number);
  }
  if (std::holds_alternative<NoValue>(cell)) {
    return "-";
  }
  // An empty or split cell would shift the columns after it.
  std::string word = std::get<std::string>(cell);
  std::replace_if(
      word.begin(), word.end(), [](char c) { return c == ' ' || c == '\t' || c == '\n'; }, '_');
  return word.empty() ? "-" : word;
}

std::string format_report(const Report& report) {
  if (report.type == "numa-global") {
    return format_pairs(report);
  }
  std::vector<std::vector<std::string>> lines = {report.columns};
  for (const std::vector<Cell>& row : report.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const Cell& cell : row) {
      line.push_back(cell_text(cell));
    }
  }
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    append_row(text, line, widths);
  }
  return text;
}

}  // namespace vmnuma::stats
