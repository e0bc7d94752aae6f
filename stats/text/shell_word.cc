// SPDX-License-Identifier: Apache-2.0
#include "stats/text/shell_word.h"

#include <algorithm>

#include <fmt/format.h>

#include "stats/text/printable.h"

namespace vmnuma::text {

namespace {

bool is_plain(char c) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) {
    return std::string(word);
  }
  const bool is_printable = printable(word) == word;
  std::string quoted = is_printable ? "'" : "$'";
  for (const char c : word) {
    if (is_printable) {
      quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    } else if (is_plain(c) || c == ' ') {
      quoted += c;
    } else {
      // Always three octal digits, so that a digit that follows does not become part of the escape.
      quoted += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return quoted + "'";
}

}  // namespace vmnuma::text
