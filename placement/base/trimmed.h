// SPDX-License-Identifier: Apache-2.0
/// White space around texts.
#pragma once

#include <algorithm>
#include <string_view>

namespace vmnuma {

/// White space of XML and of most configuration files.
inline constexpr std::string_view kBlanks = " \t\r\n";

/// `text` without the blanks around it.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);  // npos + 1 is 0
}

}  // namespace vmnuma
