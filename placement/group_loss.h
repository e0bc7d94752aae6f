// SPDX-License-Identifier: Apache-2.0
/// What it costs if clients of an affinity group live on different nodes, or those of an
/// anti-affinity group on one.
///
/// Problem: a large group has many pairs. If each counted in full, the loss of a scattered group
/// would grow with the square of its size: a group of a dozen VMs would be brought together on one
/// node however short of CPU time that makes it. Approach: in a large affinity group each pair
/// counts less.
/// Properties:
///  - pairs of a group of up to kMostInFull clients count in full;
///  - what a larger group loses when it is scattered grows in proportion to its number of clients
///    less one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "placement/model/amounts.h"

namespace vmnuma {

inline constexpr std::size_t kMostInFull = 3;

/// Returns the time lost by one pair that is apart, in an affinity group of `clients` clients.
/// `vcpus` are those of the smaller client; `weight` is Numa.AffinityWeight.
[[nodiscard]] constexpr CpuTime loss_of_pair_apart(CpuTime epoch, std::int64_t vcpus,
                                                   std::int64_t weight, std::size_t clients) {
  const CpuTime in_full = epoch * vcpus * weight / 100;
  return clients <= kMostInFull ? in_full
                                : in_full * static_cast<std::int64_t>(kMostInFull) /
                                      static_cast<std::int64_t>(clients);
}

/// Time lost by one pair that is together in an anti-affinity group: each pair counts in full,
/// since a single fault takes both. `weight` is Numa.AntiAffinityWeight.
[[nodiscard]] constexpr CpuTime loss_of_pair_together(CpuTime epoch, std::int64_t vcpus,
                                                      std::int64_t weight) {
  return epoch * vcpus * weight / 100;
}

}  // namespace vmnuma
