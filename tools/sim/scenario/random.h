// SPDX-License-Identifier: Apache-2.0
/// Random numbers that are the same everywhere.
///
/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): 64 bits
/// of state, integers only, so that equal seeds give equal runs with every library and compiler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vmnuma::tools {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  /// Returns 0 .. bound - 1; `bound` must be at least 1. Bounds here are below 2^20, so the bias
  /// does not matter.
  [[nodiscard]] std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  /// Returns an index of something with `size` elements.
  [[nodiscard]] std::size_t index(std::size_t size) {
    return static_cast<std::size_t>(below(static_cast<std::int64_t>(size)));
  }

 private:
  std::uint64_t state_;
};

/// Returns an independent stream for the `which`-th user of a seed.
[[nodiscard]] inline Random random_for(std::uint64_t seed, std::uint64_t which) {
  Random mixer(seed);
  return Random(mixer.next() ^ Random(which).next());
}

}  // namespace vmnuma::tools
