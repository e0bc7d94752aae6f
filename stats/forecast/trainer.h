// SPDX-License-Identifier: Apache-2.0
/// Trains the trees: gradient boosting with pinball loss. The only file that uses XGBoost.
///
/// Problem: XGBoost 1.7 cannot fit a percentile. Approach: a tree is grown on the gradient of the
/// pinball loss, which depends on whether values lie above or below the forecast so far; then each
/// leaf gets the 95th percentile of the residuals of its examples (Friedman: Greedy function
/// approximation: a gradient boosting machine, 2001, algorithm 4), times a learning rate. XGBoost
/// only decides where to split; leaf values are computed here, as integers. An example covers all
/// of the ten minutes that follow it; they share its inputs.
///
/// Properties:
///  - equal examples give equal trees;
///  - a leaf has at least TrainerOptions::least_examples.
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
  FeaturesAt at;
  std::array<std::int16_t, kForecastMinutes> loads{};  ///< of the minutes that follow
};

struct TrainerOptions {
  int trees = 120;
  int depth = 6;
  int rate_pct = 10;
  /// Fewer examples do not form a leaf: a percentile of few values means nothing.
  int least_examples = 60;
};

/// Returns the trees; none if there are no examples. Errors: unavailable (XGBoost failed; with its
/// message).
[[nodiscard]] Result<std::vector<Tree>> train_trees(const std::vector<Example>& examples,
                                                    const TrainerOptions& options);

}  // namespace vmnuma::stats
