// SPDX-License-Identifier: Apache-2.0
/// A mixed-integer program as plain values: least cost, rows "at most" and "exactly".
///
/// The program's author chooses the units of amounts. Floating point is appropriate here, because
/// the result is only a bound on a cost, and homes, which are whole numbers again.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace vmnuma::balancer {

using ColumnIndex = std::size_t;

struct LinearProgram {
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

  struct Column {
    double least = 0;
    double most = 1;
    double cost = 0;
    bool whole = false;  ///< an integer
  };
  struct Term {
    ColumnIndex column = 0;
    double factor = 0;
  };
  /// Sum of the terms is at most `limit`, or exactly that.
  struct Row {
    std::vector<Term> terms;
    double limit = 0;
    bool exactly = false;
  };

  std::vector<Column> columns;
  std::vector<Row> rows;

  ColumnIndex add(const Column& column) {
    columns.push_back(column);
    return columns.size() - 1;
  }
};

}  // namespace vmnuma::balancer
