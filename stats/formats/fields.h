// SPDX-License-Identifier: Apache-2.0
/// Splits kernel text into lines, words and numbers without overlooking leftovers.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "placement/base/number.h"
#include "placement/base/result.h"

namespace vmnuma::stats {

/// Returns `rest` up to its first '\n' and advances `rest` past it. Nothing if `rest` is empty.
[[nodiscard]] std::optional<std::string_view> take_line(std::string_view& rest);

/// Returns a text that is one line, without its '\n'; nothing if it is not exactly one whole line.
[[nodiscard]] std::optional<std::string_view> single_line(std::string_view text);

/// Takes the next word, separated by any number of blanks or tabs. Nothing if only blanks are left.
[[nodiscard]] std::optional<std::string_view> take_word(std::string_view& rest);

/// Converts all of `text` to a non-negative decimal number of type `Number`; nothing if it contains
/// anything else or the number does not fit.
template <std::integral Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view text) {
  const auto number = whole_number<Number>(text);
  return number && *number >= Number{} ? number : std::nullopt;
}

/// Converts all of `text` to an address, hexadecimal without 0x; nothing if it is not one.
[[nodiscard]] std::optional<std::uint64_t> to_address(std::string_view text);

/// Takes the next word and reads it as a number.
template <std::integral Number>
[[nodiscard]] std::optional<Number> take_number(std::string_view& rest) {
  const auto word = take_word(rest);
  return word ? to_number<Number>(*word) : std::nullopt;
}

/// Returns the rest of `text` after `prefix`; nothing if `text` does not begin with it.
[[nodiscard]] std::optional<std::string_view> after(std::string_view text, std::string_view prefix);

/// Checks that `text` ends with a newline, as every line-based kernel file does; otherwise it was
/// cut off. Error: corrupt, naming `format`.
[[nodiscard]] Result<void> check_complete(std::string_view text, std::string_view format);

/// Returns the error corrupt, "this is not FORMAT: 'LINE'", with at most 200 bytes of the line,
/// unprintable ones as '?'.
[[nodiscard]] tl::unexpected<Error> bad_line(std::string_view format, std::string_view line);

}  // namespace vmnuma::stats
