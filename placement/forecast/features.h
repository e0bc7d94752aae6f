// SPDX-License-Identifier: Apache-2.0
/// The inputs of a trained predictor.
///
/// Problem: training and forecasting must see the same figures, even if the two are of different
/// versions. Approach: one function makes them, as whole numbers, and their names are stored with
/// every model.
///
/// Properties:
///  - they are made only of minutes up to the one asked for;
///  - a figure that is not known is -1, which no known figure is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "placement/forecast/predictors.h"

namespace vmnuma {

inline constexpr std::size_t kFeatures = 27;
using Features = std::array<std::int32_t, kFeatures>;

/// Returns the names of the inputs, in the order of Features.
[[nodiscard]] const std::array<std::string_view, kFeatures>& feature_names();

struct FeaturesAt {
  Features features{};
  Permille usual;  ///< the histogram's forecast, which the trained model corrects
};

/// Returns the inputs as seen at the end of `minute`. Nothing while the histogram has no forecast.
[[nodiscard]] std::optional<FeaturesAt> features_at(const VmFacts& vm, const KnownLoad& load,
                                                    std::int64_t minute);

}  // namespace vmnuma
