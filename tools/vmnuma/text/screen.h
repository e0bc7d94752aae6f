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
  bool blocks = false;  ///< the terminal can show characters outside ASCII
  bool operator==(const ScreenSize&) const = default;
};

/// Returns the number of columns that the line takes.
[[nodiscard]] std::size_t width_of(const Line& line);

/// Returns the line's first `columns` columns.
[[nodiscard]] Line clipped(const Line& line, std::size_t columns);

/// Returns the lines without styles and trailing blanks, each terminated by '\n'.
[[nodiscard]] std::string plain_text(const std::vector<Line>& lines);

/// Returns the text in the style's colour, for a terminal with colours (ECMA-48, SGR).
[[nodiscard]] std::string coloured(const std::string& text, Style style);

}  // namespace vmnuma::tools
