// SPDX-License-Identifier: Apache-2.0
#include "placement/forecast/decaying_histogram.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace vmnuma {
namespace {

constexpr std::int64_t kHalfLife = DecayingHistogram::kHalfLifeMinutes;
/// Binary digits of a weight below one.
constexpr unsigned kWeightBits = 20;
/// Half-lives by which a weight may exceed the reference's. 2^(20 + 20) for a value leaves room for
/// millions of values.
constexpr std::int64_t kMostDoublings = 20;

/// 2^(i / 720), in units of 2^-20.
constexpr std::array<std::uint64_t, kHalfLife> kGrowth = [] {
  __extension__ using Wide = unsigned __int128;
  constexpr unsigned kBits = 62;
  // 2^(1 / 720), in units of 2^-62; in 720 steps its error grows to less than 2^-50.
  constexpr std::uint64_t kStep = 4616127846669972594U;
  std::array<std::uint64_t, kHalfLife> growth{};
  std::uint64_t power = std::uint64_t{1} << kBits;
  for (std::uint64_t& entry : growth) {
    entry = power >> (kBits - kWeightBits);
    power = static_cast<std::uint64_t>((static_cast<Wide>(power) * kStep) >> kBits);
  }
  return growth;
}();
static_assert(kGrowth[0] == 1U << kWeightBits);
static_assert(kGrowth[kHalfLife / 2] == 1'482'910, "the square root of 2");

std::uint64_t shifted_down(std::uint64_t value, std::int64_t by) {
  return by < 64 ? value >> by : 0;
}

}  // namespace

DecayingHistogram::DecayingHistogram(std::int64_t least, std::int64_t largest, std::int64_t width)
    : least_(least),
      width_(width),
      weights_(static_cast<std::size_t>((largest - least) / width + 1)) {}

void DecayingHistogram::add(std::int64_t value, std::int64_t minute) {
  const std::int64_t rest = ((minute % kHalfLife) + kHalfLife) % kHalfLife;
  const std::int64_t half_lives = (minute - rest) / kHalfLife;
  if (total_ == 0) {
    reference_ = half_lives;
  }
  if (half_lives - reference_ > kMostDoublings) {
    const std::int64_t by = half_lives - reference_;
    for (std::uint64_t& weight : weights_) {
      weight = shifted_down(weight, by);
    }
    total_ = std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0});
    reference_ = half_lives;
  }
  std::uint64_t weight = kGrowth[static_cast<std::size_t>(rest)];
  if (half_lives >= reference_) {
    weight <<= half_lives - reference_;
  } else {
    weight = shifted_down(weight, reference_ - half_lives);
  }
  const std::int64_t last = static_cast<std::int64_t>(weights_.size()) - 1;
  const std::int64_t bucket =
      std::clamp((std::max(value, least_) - least_) / width_, std::int64_t{0}, last);
  weights_[static_cast<std::size_t>(bucket)] += weight;
  total_ += weight;
}

std::optional<std::int64_t> DecayingHistogram::quantile(Permille share) const {
  if (total_ == 0) {
    return std::nullopt;
  }
  __extension__ using Wide = unsigned __int128;
  const auto wanted = static_cast<std::uint64_t>(
      static_cast<Wide>(total_) *
      static_cast<std::uint64_t>(std::clamp<std::int64_t>(share.value, 0, 1000)) / 1000);
  std::uint64_t before = 0;
  std::size_t bucket = 0;
  while (weights_[bucket] == 0 || before + weights_[bucket] < wanted) {
    before += weights_[bucket++];
  }
  const auto part =
      static_cast<std::int64_t>(static_cast<Wide>(wanted - before) *
                                static_cast<std::uint64_t>(width_ - 1) / weights_[bucket]);
  return least_ + static_cast<std::int64_t>(bucket) * width_ + part;
}

}  // namespace vmnuma
