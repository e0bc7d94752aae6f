// SPDX-License-Identifier: Apache-2.0
/// Examples to learn from, out of a VM's minutes.
///
/// Problem: what a trained predictor learns must look as it will when it forecasts. Approach: the
/// minutes are gone through in order with what the daemon itself keeps of them; now and then an
/// example is taken, and it is complete once the ten minutes after it have come.
///
/// Properties:
///  - an example knows no minute after its own but as what came of it;
///  - a gap ends an example.
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
  /// An example every `stride` minutes. More than kForecastMinutes, so that at most one is open.
  static constexpr std::int64_t kStride = 17;

  /// The next minute of this VM. Ascending.
  void add(const placement::VmFacts& vm, placement::KnownLoad& load, std::int64_t minute,
           placement::Permille value);
  /// Ends a VM.
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
