// SPDX-License-Identifier: Apache-2.0
/// Numbers in texts.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace vmnuma {

/// Parses the whole of `text` as a number of that base, without a sign except for a '-' of signed
/// types; nothing if `text` contains anything else or the type is too small.
template <std::integral Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

}  // namespace vmnuma
