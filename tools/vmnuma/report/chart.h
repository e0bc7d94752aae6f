// SPDX-License-Identifier: Apache-2.0
/// Draws charts over time as inline SVG 1.1, and makes text safe for use in a page. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace vmnuma::tools {

/// Returns the text with HTML's special characters and control characters replaced.
[[nodiscard]] std::string html_escaped(std::string_view text);

struct ChartPoint {
  std::int64_t time_unix_s = 0;
  std::int64_t permille = 0;
  bool operator==(const ChartPoint&) const = default;
};

struct ChartLine {
  std::string name;
  std::vector<ChartPoint> points;  ///< ascending time
};

struct Chart {
  std::string title;
  std::int64_t since_unix_s = 0;
  std::int64_t until_unix_s = 0;
  std::vector<ChartLine> lines;
  /// Points that are further apart than this are not connected.
  std::int64_t longest_step_s = std::numeric_limits<std::int64_t>::max();
};

/// Returns at most `most` points, each the average of those it replaces.
[[nodiscard]] std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points,
                                              std::size_t most);

/// Returns the chart in per cent, from 0 to the next round number above the highest point, but at
/// least to 100 %. Line n has the classes "line" and "cN" with N = n modulo 8, and is interrupted
/// where nothing was recorded. If there is nothing to show, the chart states that.
[[nodiscard]] std::string svg_of(const Chart& chart, std::size_t most_points);

}  // namespace vmnuma::tools
