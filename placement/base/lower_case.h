// SPDX-License-Identifier: Apache-2.0
/// ASCII letters in lower case, whatever the locale is.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace vmnuma {

[[nodiscard]] constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return lower_case(c); });
  return lower;
}

}  // namespace vmnuma
