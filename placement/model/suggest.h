// SPDX-License-Identifier: Apache-2.0
/// The end of a message about an unknown word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/model/options.h"

namespace vmnuma {

/// Returns "; did you mean 'mode'?" if one of `known` is likely to be meant, or an empty string.
[[nodiscard]] inline std::string did_you_mean(std::string_view word,
                                              const std::vector<std::string_view>& known) {
  const std::string_view nearest = nearest_name(word, known);
  return nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

}  // namespace vmnuma
