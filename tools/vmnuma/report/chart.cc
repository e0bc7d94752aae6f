// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/report/chart.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

// In the units of the view box.
constexpr std::int64_t kWidth = 900;
constexpr std::int64_t kHeight = 220;
constexpr std::int64_t kLeft = 50;
constexpr std::int64_t kRight = 10;
constexpr std::int64_t kTop = 10;
constexpr std::int64_t kBottom = 25;
constexpr std::int64_t kPlotWidth = kWidth - kLeft - kRight;
constexpr std::int64_t kPlotHeight = kHeight - kTop - kBottom;
constexpr std::int64_t kTimeMarks = 4;
constexpr std::int64_t kMostPermille = 1'000'000;
constexpr std::size_t kColours = 8;

/// Returns the top of the scale in thousandths: 1000 for up to 100 %, then whole hundreds of per
/// cent.
std::int64_t scale_of(const Chart& chart) {
  std::int64_t highest = 0;
  for (const ChartLine& line : chart.lines) {
    for (const ChartPoint& point : line.points) {
      highest = std::max(highest, std::min(point.permille, kMostPermille));
    }
  }
  return std::max<std::int64_t>((highest + 999) / 1000, 1) * 1000;
}

std::int64_t x_of(const Chart& chart, std::int64_t time) {
  const std::int64_t length = std::max<std::int64_t>(chart.until_unix_s - chart.since_unix_s, 1);
  return kLeft +
         std::clamp<std::int64_t>(time - chart.since_unix_s, 0, length) * kPlotWidth / length;
}

std::int64_t y_of(std::int64_t permille, std::int64_t scale) {
  return kTop + kPlotHeight - std::clamp<std::int64_t>(permille, 0, scale) * kPlotHeight / scale;
}

std::string axes(const Chart& chart, std::int64_t scale) {
  std::string svg;
  for (std::int64_t quarter = 0; quarter <= 4; ++quarter) {
    const std::int64_t permille = scale * quarter / 4;
    const std::int64_t y = y_of(permille, scale);
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\"/>"
        "<text class=\"mark\" x=\"{3}\" y=\"{4}\" text-anchor=\"end\">{5} %</text>\n",
        kLeft, y, kWidth - kRight, kLeft - 6, y + 4, permille / 10);
  }
  for (std::int64_t mark = 0; mark <= kTimeMarks; ++mark) {
    const std::int64_t time =
        chart.since_unix_s + (chart.until_unix_s - chart.since_unix_s) * mark / kTimeMarks;
    const std::string_view anchor = mark == 0 ? "start" : mark == kTimeMarks ? "end" : "middle";
    // Without the seconds.
    svg += fmt::format("<text class=\"mark\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n",
                       x_of(chart, time), kHeight - 6, anchor, local_time_text(time).substr(0, 16));
  }
  return svg;
}

/// Returns the line, split at its gaps, with at most as many points in total as allowed. A stretch
/// of one point is drawn as long as a point is wide.
std::vector<std::vector<ChartPoint>> stretches(const Chart& chart, const ChartLine& line,
                                               std::size_t most_points) {
  std::vector<std::vector<ChartPoint>> out;
  for (const ChartPoint& point : line.points) {
    if (out.empty() || point.time_unix_s - out.back().back().time_unix_s > chart.longest_step_s) {
      out.emplace_back();
    }
    out.back().push_back(point);
  }
  if (out.size() > most_points) {  // more gaps than points: no line would be visible anyway
    return {thinned(line.points, most_points)};
  }
  for (std::vector<ChartPoint>& stretch : out) {
    stretch = thinned(stretch,
                      std::max<std::size_t>(most_points * stretch.size() / line.points.size(), 1));
  }
  return out;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t most) {
  if (points.size() <= most || most == 0) {
    return points;
  }
  std::vector<ChartPoint> out;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t begin = points.size() * i / most;
    const std::size_t end = points.size() * (i + 1) / most;
    std::int64_t sum = 0;
    for (std::size_t at = begin; at < end; ++at) {
      sum += points[at].permille;
    }
    out.push_back({points[begin + (end - begin) / 2].time_unix_s,
                   sum / std::max<std::int64_t>(static_cast<std::int64_t>(end - begin), 1)});
  }
  return out;
}

std::string svg_of(const Chart& chart, std::size_t most_points) {
  const bool is_empty = std::all_of(chart.lines.begin(), chart.lines.end(),
                                    [](const ChartLine& line) { return line.points.empty(); });
  if (is_empty) {
    return "<p>Nothing was recorded.</p>\n";
  }
  const std::int64_t scale = scale_of(chart);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                                kWidth, kHeight, html_escaped(chart.title)) +
                    axes(chart, scale);
  std::string legend = "<p class=\"legend\">";
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const std::string name = html_escaped(chart.lines[i].name);
    for (const std::vector<ChartPoint>& stretch : stretches(chart, chart.lines[i], most_points)) {
      std::string points;
      for (const ChartPoint& point : stretch) {
        points += fmt::format("{}{},{}", points.empty() ? "" : " ", x_of(chart, point.time_unix_s),
                              y_of(point.permille, scale));
      }
      svg +=
          fmt::format("<polyline class=\"line c{}\" points=\"{}\"><title>{}</title></polyline>\n",
                      i % kColours, points, name);
    }
    legend += fmt::format("<span class=\"key k{}\">{}</span> ", i % kColours, name);
  }
  return svg + "</svg>\n" + legend + "</p>\n";
}

}  // namespace vmnuma::tools
