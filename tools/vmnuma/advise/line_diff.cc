// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "stats/formats/fields.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t kContext = 3;
/// Limit for the cells of the table below, four bytes each.
constexpr std::size_t kMostCells = 16'000'000;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (const auto line = stats::take_line(text)) {
    lines.push_back(*line);
  }
  return lines;
}

/// A line of the diff: kept (both numbers advance), removed or inserted.
struct Edit {
  char sign = ' ';
  std::string_view line;
};

/// Returns the edits, by the longest common subsequence of the differing part.
std::vector<Edit> edits_between(const Lines& a, const Lines& b) {
  const auto head = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t rows = a.size() - head - tail;
  const std::size_t columns = b.size() - head - tail;
  const bool small = rows * columns <= kMostCells;
  // common[r][c]: number of lines that a from r on and b from c on have in common.
  std::vector<std::int32_t> common(small ? (rows + 1) * (columns + 1) : 0);
  const auto at = [&](std::size_t r, std::size_t c) -> std::int32_t& {
    return common[r * (columns + 1) + c];
  };
  for (std::size_t r = small ? rows : 0; r-- > 0;) {
    for (std::size_t c = columns; c-- > 0;) {
      at(r, c) =
          a[head + r] == b[head + c] ? at(r + 1, c + 1) + 1 : std::max(at(r + 1, c), at(r, c + 1));
    }
  }
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < head; ++i) {
    edits.push_back({' ', a[i]});
  }
  std::size_t r = 0;
  std::size_t c = 0;
  while (r < rows || c < columns) {
    if (small && r < rows && c < columns && a[head + r] == b[head + c]) {
      edits.push_back({' ', a[head + r]});
      ++r;
      ++c;
    } else if (r < rows && (!small || c == columns || at(r + 1, c) >= at(r, c + 1))) {
      edits.push_back({'-', a[head + r++]});
    } else {
      edits.push_back({'+', b[head + c++]});
    }
  }
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) {
    edits.push_back({' ', a[i]});
  }
  return edits;
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after, std::string_view before_name,
                      std::string_view after_name) {
  const std::vector<Edit> edits = edits_between(lines_of(before), lines_of(after));
  std::string text;
  std::size_t line_before = 1;
  std::size_t line_after = 1;
  std::size_t done = 0;
  const auto skip_to = [&](std::size_t end) {
    for (; done < end; ++done) {
      line_before += edits[done].sign == '+' ? 0U : 1U;
      line_after += edits[done].sign == '-' ? 0U : 1U;
    }
  };
  for (std::size_t i = 0; i < edits.size();) {
    if (edits[i].sign == ' ') {
      ++i;
      continue;
    }
    const std::size_t first = std::max(i > kContext ? i - kContext : 0, done);
    // The hunk ends where more than twice the context follows without a change.
    std::size_t last = i;
    for (std::size_t j = i; j < edits.size() && j <= last + 2 * kContext + 1; ++j) {
      last = edits[j].sign == ' ' ? last : j;
    }
    const std::size_t end = std::min(last + kContext + 1, edits.size());
    skip_to(first);
    std::size_t count_before = 0;
    std::size_t count_after = 0;
    std::string hunk;
    for (std::size_t j = first; j < end; ++j) {
      count_before += edits[j].sign == '+' ? 0U : 1U;
      count_after += edits[j].sign == '-' ? 0U : 1U;
      hunk += edits[j].sign;
      hunk.append(edits[j].line);
      hunk += '\n';
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n{}",
                        count_before == 0 ? line_before - 1 : line_before, count_before,
                        count_after == 0 ? line_after - 1 : line_after, count_after, hunk);
    skip_to(end);
    i = end;
  }
  return text.empty() ? text
                      : fmt::format("--- {}\n+++ {}\n{}", printable(before_name),
                                    printable(after_name), text);
}

}  // namespace vmnuma::tools
