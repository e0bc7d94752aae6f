// SPDX-License-Identifier: Apache-2.0
#include "stats/text/printable.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace vmnuma::text {

namespace {

struct Character {
  char32_t value = 0;
  std::size_t bytes = 1;
};

/// Returns the first character of the text; nothing if it is not UTF-8 (RFC 3629, section 4).
std::optional<Character> first_of(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return Character{first, 1};
  }
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) {
    return std::nullopt;
  }
  char32_t value = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) {
      return std::nullopt;
    }
    value = value << 6U | (byte(i) & 0x3fU);
  }
  const bool is_overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  return is_overlong || is_surrogate || value > 0x10ffff ? std::nullopt
                                                         : std::optional(Character{value, bytes});
}

bool is_unprintable(char32_t character) {
  return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x061c ||
         character == 0x200e || character == 0x200f ||
         (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069) || character == 0xfeff;
}

std::string escaped(char32_t character) {
  switch (character) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return character < 0x80 ? fmt::format("\\x{:02x}", std::uint32_t{character})
                              : fmt::format("\\u{:04x}", std::uint32_t{character});
  }
}

/// `character` replaces an unprintable character, `byte` a byte that is not UTF-8.
template <class OfCharacter, class OfByte>
std::string replaced(std::string_view text, const OfCharacter& character, const OfByte& byte) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::optional<Character> first = first_of(text);
    const std::string_view bytes = text.substr(0, first ? first->bytes : 1);
    if (!first) {
      out += byte(bytes);
    } else if (is_unprintable(first->value)) {
      out += character(first->value);
    } else {
      out += bytes;
    }
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return replaced(text, escaped, [](std::string_view byte) {
    return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte[0]));
  });
}

std::string escaped_json(std::string_view json) {
  return replaced(
      json,
      [](char32_t character) {
        return character == '\n' ? "\n" : fmt::format("\\u{:04x}", std::uint32_t{character});
      },
      [](std::string_view byte) { return byte; });
}

}  // namespace vmnuma::text
