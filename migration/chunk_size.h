// SPDX-License-Identifier: Apache-2.0
/// How much one page migration call is given.
///
/// Problem: the guest stalls on pages that are being moved, so a call should not take long; what
/// fits into the time depends on page size, machine and load, and is only known afterwards.
/// Approach: after each call the size follows target / elapsed, at most doubled or halved at a
/// time. Properties: never outside kSmallestChunk..kLargestChunk; a call of a steady rate settles
/// at the target; a small call says nothing about larger ones, so it never makes chunks grow.
#pragma once

#include <algorithm>

#include "migration/pacing.h"
#include "placement/model/amounts.h"

namespace vmnuma::migration {

class ChunkSize {
 public:
  [[nodiscard]] placement::Bytes now() const { return size_; }

  /// A call that handled `work` took `elapsed`.
  void learn(placement::Bytes work, placement::Microseconds elapsed,
             placement::Microseconds target) {
    if (elapsed > target) {
      // work <= 2^40 and targets <= 2^20 us, so the product fits.
      const placement::Bytes fitting =
          work * target.value / std::max<std::int64_t>(elapsed.value, 1);
      size_ = std::max(std::min(size_, fitting), size_ / 2);
    } else if (work >= size_) {
      const placement::Bytes fitting =
          work * target.value / std::max<std::int64_t>(elapsed.value, 1);
      size_ = std::min(std::max(size_, fitting), size_ * 2);
    }
    size_ = std::clamp(size_, kSmallestChunk, kLargestChunk);
  }

 private:
  placement::Bytes size_ = kSmallestChunk;
};

}  // namespace vmnuma::migration
