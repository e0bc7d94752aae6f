// SPDX-License-Identifier: Apache-2.0
/// A histogram of values in which old values count less.
///
/// Problem: the usual values of a load change over days; a plain histogram never forgets, while a
/// window forgets everything at once and has to be stored. Approach: buckets of equal width hold
/// weights. A value that arrives one half-life later is added with twice the weight, which is the
/// same as halving all earlier ones; when weights have grown large, all are divided at once.
/// Weights are fixed-point integers.
/// Terms: *half-life* - the time in which a value's weight halves against newer ones.
/// Properties:
///  1. A quantile grows with its share and lies between the least and the largest value seen,
///     within one bucket's width.
///  2. Values of one minute count the same, whatever their order.
///  3. A value counts half as much as one that is a half-life newer.
///  4. Moving all times by the same number of half-lives changes nothing.
///  5. Values outside the range count as the nearest one inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma {

class DecayingHistogram {
 public:
  static constexpr std::int64_t kHalfLifeMinutes = 720;

  /// Buckets of `width` that cover `least` to `largest`.
  DecayingHistogram(std::int64_t least, std::int64_t largest, std::int64_t width);

  /// Times may come in any order.
  void add(std::int64_t value, std::int64_t minute);

  /// Returns the value that `share` of the weight does not exceed, interpolated within its bucket;
  /// nothing if the histogram is empty.
  [[nodiscard]] std::optional<std::int64_t> quantile(Permille share) const;

 private:
  std::int64_t least_;
  std::int64_t width_;
  std::vector<std::uint64_t> weights_;
  std::uint64_t total_ = 0;
  std::int64_t reference_ = 0;  ///< in half-lives since minute 0: when a weight is 1
};

}  // namespace vmnuma
