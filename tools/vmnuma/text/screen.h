// SPDX-License-Identifier: Apache-2.0
/// Text with a meaning for each part, independent of the terminal that shows it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vmnuma::tools {

enum class Style { kPlain, kTitle, kHeader, kSelected, kDim, kGood, kWarning, kBad };

struct Span {
  std::string text;
  Style style = Style::kPlain;
  bool operator==(const Span&) const = default;
};

using Line = std::vector<Span>;

struct ScreenSize {
  std::size_t rows = 24;
  std::size_t columns = 80;
  bool blocks = false;  ///< it can show characters outside ASCII
  bool operator==(const ScreenSize&) const = default;
};

/// Columns that the line takes.
[[nodiscard]] std::size_t width_of(const Line& line);

/// Its first `columns` columns.
[[nodiscard]] Line clipped(const Line& line, std::size_t columns);

/// Without styles, blanks at the end of lines removed, each line ended by '\n'.
[[nodiscard]] std::string plain_text(const std::vector<Line>& lines);

/// The text in the style's colour, for a terminal that has colours (ECMA-48, SGR).
[[nodiscard]] std::string coloured(const std::string& text, Style style);

}  // namespace vmnuma::tools
