// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/training_set.h"

namespace vmnuma::stats {

void TrainingSet::add(const VmFacts& vm, KnownLoad& load, std::int64_t minute, Permille value) {
  if (open_ && minute != open_->minute + 1 + static_cast<std::int64_t>(open_->filled)) {
    open_.reset();
  }
  if (open_) {
    open_->example.loads[open_->filled++] = static_cast<std::int16_t>(value.value);
    if (open_->filled == open_->example.loads.size()) {
      examples_.push_back(open_->example);
      open_.reset();
    }
  }
  load.add(minute, value);
  // The histograms are meaningful only after half a day.
  if (!open_ && minute % kStride == 0 && load.minutes() >= DecayingHistogram::kHalfLifeMinutes) {
    if (const auto at = features_at(vm, load, minute)) {
      open_ = Open{minute, 0, {minute, *at, {}}};
    }
  }
}

}  // namespace vmnuma::stats
