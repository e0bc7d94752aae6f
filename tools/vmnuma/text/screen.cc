// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/screen.h"

#include <string_view>

#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

std::string_view graphic_rendition(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kTitle:
      return "1";
    case Style::kHeader:
    case Style::kSelected:
      return "7";
    case Style::kDim:
      return "2";
    case Style::kGood:
      return "32";
    case Style::kWarning:
      return "33";
    case Style::kBad:
      return "31";
  }
  return "";
}

}  // namespace

std::size_t width_of(const Line& line) {
  std::size_t width = 0;
  for (const Span& span : line) {
    width += width_of(span.text);
  }
  return width;
}

Line clipped(const Line& line, std::size_t columns) {
  Line out;
  std::size_t left = columns;
  for (const Span& span : line) {
    if (left == 0) {
      break;
    }
    out.push_back({first_columns(span.text, left), span.style});
    const bool is_whole = out.back().text.size() == span.text.size();
    left = is_whole ? left - width_of(span.text) : 0;
  }
  return out;
}

std::string plain_text(const std::vector<Line>& lines) {
  std::string out;
  for (const Line& line : lines) {
    std::string text;
    for (const Span& span : line) {
      text += span.text;
    }
    text.erase(text.find_last_not_of(' ') + 1);  // npos + 1 is 0
    out += text + "\n";
  }
  return out;
}

std::string coloured(const std::string& text, Style style) {
  const std::string_view parameter = graphic_rendition(style);
  return parameter.empty() ? text : "\x1b[" + std::string(parameter) + "m" + text + "\x1b[0m";
}

}  // namespace vmnuma::tools
