// SPDX-License-Identifier: Apache-2.0
/// A table of text.
///
/// Columns are as wide as their widest cell and two blanks apart. Nothing is truncated, because
/// what users read in a table they type into the next command, and programs read it, too. A
/// terminal that is too narrow wraps the line.
#pragma once

#include <string>
#include <vector>

namespace vmnuma::tools {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string header;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row; one cell per column.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Returns the header and the rows, each line terminated by '\n' and without trailing blanks;
  /// control characters are replaced.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

using Align = Table::Align;

}  // namespace vmnuma::tools
