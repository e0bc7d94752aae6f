// SPDX-License-Identifier: Apache-2.0
/// The number of bytes to pass to one page migration call.
///
/// Problem: the guest stalls on pages that are being moved, so a call should not take long; how
/// much fits into that time depends on page size, machine and load, and is only known afterwards.
/// Approach: after each call the size is scaled by target / elapsed, at most doubled or halved at a
/// time. Every call also has a fixed cost, whatever its size: the kernel first drains the page
/// lists of all CPUs (lru_cache_disable() in mm/swap.c, Linux 6.1), for which a worker must be
/// scheduled on each. With all CPUs busy that alone can take many times the target; smaller calls
/// would then only mean more calls, and the transfer would take minutes. Therefore, if even the
/// quickest of the last few calls of the smallest size took more than twice the target, calls may
/// take twice as long as that one.
///
/// Properties:
///  - the size is never outside kSmallestChunk..kLargestChunk;
///  - at a steady rate, calls settle at the target, or at twice the duration of the smallest call
///    if that is more than twice the target;
///  - the speed of a small call does not predict that of larger ones, so it never makes chunks
///    grow.
#pragma once

#include <algorithm>
#include <array>

#include "migration/pacing.h"
#include "placement/model/amounts.h"

namespace vmnuma::migration {

class ChunkSize {
 public:
  [[nodiscard]] Bytes now() const { return size_; }

  /// Adjusts the size after a call that handled `work` in `elapsed`.
  void learn(Bytes work, Microseconds elapsed, Microseconds target) {
    if (work <= kSmallestChunk) {
      std::rotate(smallest_durations_.begin(), smallest_durations_.begin() + 1,
                  smallest_durations_.end());
      smallest_durations_.back() = elapsed;
    }
    for (Microseconds& took : smallest_durations_) {
      took = std::min(took, elapsed);  // a smaller call would not have taken longer
    }
    const Microseconds quickest =
        *std::min_element(smallest_durations_.begin(), smallest_durations_.end());
    if (quickest > target * 2) {
      target = quickest * 2;
    }
    if (elapsed > target) {
      // work <= 2^30 in calls this slow and targets <= 2^32 us, so the product fits.
      const Bytes fitting = work * target.value / std::max<std::int64_t>(elapsed.value, 1);
      size_ = std::max(std::min(size_, fitting), size_ / 2);
    } else if (work >= size_) {
      const Bytes fitting = work * target.value / std::max<std::int64_t>(elapsed.value, 1);
      size_ = std::min(std::max(size_, fitting), size_ * 2);
    }
    size_ = std::clamp(size_, kSmallestChunk, kLargestChunk);
  }

 private:
  Bytes size_ = kSmallestChunk;
  /// Durations of the last calls of the smallest size; 0: no such call yet.
  std::array<Microseconds, 4> smallest_durations_{};
};

}  // namespace vmnuma::migration
