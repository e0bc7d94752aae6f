// SPDX-License-Identifier: Apache-2.0
/// Training the trees: gradient boosting with pinball loss. The only file that knows XGBoost.
///
/// Problem: XGBoost 1.7 cannot fit a percentile. Approach: a tree is grown on the gradient of the
/// pinball loss, which is that of whether values lie above or below the forecast so far; then each
/// leaf gets the 95th percentile of what its examples still lack (Friedman: Greedy function
/// approximation: a gradient boosting machine, 2001, algorithm 4), times a learning rate. XGBoost
/// only says where to split; values are ours, and whole numbers. An example has all ten minutes
/// that followed, which share its figures.
///
/// Properties:
///  - equal examples give equal trees;
///  - a leaf has kLeastExamples.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "placement/base/result.h"
#include "placement/forecast/features.h"
#include "placement/forecast/tree_model.h"

namespace vmnuma::stats {

struct Example {
  std::int64_t minute = 0;
  placement::FeaturesAt at;
  std::array<std::int16_t, placement::kForecastMinutes> loads{};  ///< of the minutes that followed
};

struct TrainerOptions {
  int trees = 120;
  int depth = 6;
  int rate_pct = 10;
  /// Fewer make no leaf: a percentile of few says nothing.
  int least_examples = 60;
};

/// Without examples, a model without trees. Errors: unavailable (XGBoost's own, in its words).
[[nodiscard]] Result<std::vector<placement::Tree>> train_trees(const std::vector<Example>& examples,
                                                               const TrainerOptions& options);

}  // namespace vmnuma::stats
