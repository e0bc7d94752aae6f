// SPDX-License-Identifier: Apache-2.0
/// Splitting kernel text into lines, words and numbers, with no leftovers unnoticed.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "placement/base/number.h"
#include "placement/base/result.h"

namespace vmnuma::stats {

/// Splits off `rest` up to its first '\n' and moves it past that. Nothing when `rest` is empty.
[[nodiscard]] std::optional<std::string_view> take_line(std::string_view& rest);

/// Takes the next word, separated by any number of blanks or tabs. Nothing if only blanks are left.
[[nodiscard]] std::optional<std::string_view> take_word(std::string_view& rest);

/// All of `text` as a non-negative decimal number of type `Number`; nothing if it contains anything
/// else or does not fit the type.
template <std::integral Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view text) {
  const auto number = whole_number<Number>(text);
  return number && *number >= Number{} ? number : std::nullopt;
}

/// All of `text` as an address, hexadecimal without 0x; nothing if it is not one.
[[nodiscard]] std::optional<std::uint64_t> to_address(std::string_view text);

/// Takes the next word and reads it as a number.
template <std::integral Number>
[[nodiscard]] std::optional<Number> take_number(std::string_view& rest) {
  const auto word = take_word(rest);
  return word ? to_number<Number>(*word) : std::nullopt;
}

/// What follows `prefix` in `text`, or nothing if `text` does not begin with it.
[[nodiscard]] std::optional<std::string_view> after(std::string_view text, std::string_view prefix);

/// Every line-based kernel file ends with a newline; one that does not was cut off. Error: corrupt,
/// naming `format`.
[[nodiscard]] Result<void> check_complete(std::string_view text, std::string_view format);

/// A corrupt error "this is not FORMAT: 'LINE'", with at most 200 bytes of the line, unprintable
/// ones as '?'.
[[nodiscard]] tl::unexpected<Error> bad_line(std::string_view format, std::string_view line);

}  // namespace vmnuma::stats
