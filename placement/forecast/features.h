// SPDX-License-Identifier: Apache-2.0
/// What a trained predictor looks at.
///
/// Problem: training and forecasting must see the same figures, also if one of the two is of
/// another version. Approach: one function makes them, as whole numbers, and their names are kept
/// with every model.
///
/// Properties:
///  - made of nothing but minutes up to the one asked for;
///  - a figure that is not known is -1 where no other figure is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "placement/forecast/predictors.h"

namespace vmnuma::placement {

inline constexpr std::size_t kFeatures = 27;
using Features = std::array<std::int32_t, kFeatures>;

/// In their order.
[[nodiscard]] const std::array<std::string_view, kFeatures>& feature_names();

struct FeaturesAt {
  Features features{};
  Permille usual;  ///< the histogram's forecast, which a trained one corrects
};

/// As seen at the end of `minute`. Nothing while the histogram cannot tell.
[[nodiscard]] std::optional<FeaturesAt> features_at(const VmFacts& vm, const KnownLoad& load,
                                                    std::int64_t minute);

}  // namespace vmnuma::placement
