// SPDX-License-Identifier: Apache-2.0
/// Makes training examples from a VM's minutes.
///
/// Problem: a trained predictor must learn from the same inputs that it gets when it forecasts.
/// Approach: go through the minutes in order, with the same state that the daemon keeps. Every
/// kStride minutes start an example, which is complete ten minutes later.
///
/// Properties:
///  - an example uses later minutes only as its result;
///  - a gap discards an example.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "placement/forecast/known_load.h"
#include "placement/forecast/predictors.h"
#include "stats/forecast/trainer.h"

namespace vmnuma::stats {

class TrainingSet {
 public:
  /// Minutes between two examples. More than kForecastMinutes, so that at most one is open.
  static constexpr std::int64_t kStride = 17;

  /// Adds the next minute of this VM. Minutes must ascend.
  void add(const VmFacts& vm, KnownLoad& load, std::int64_t minute, Permille value);
  /// Ends the current VM.
  void next_vm() { open_.reset(); }
  [[nodiscard]] const std::vector<Example>& examples() const { return examples_; }

 private:
  struct Open {
    std::int64_t minute = 0;
    std::size_t filled = 0;
    Example example;
  };
  std::optional<Open> open_;
  std::vector<Example> examples_;
};

}  // namespace vmnuma::stats
