// SPDX-License-Identifier: Apache-2.0
/// How deeply a JSON text is nested, without parsing it. Internal to this folder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace vmnuma::balancer {

/// The most brackets open at once outside strings. For a text that is not JSON, some number.
[[nodiscard]] inline std::size_t nesting_depth(std::string_view json) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace vmnuma::balancer
