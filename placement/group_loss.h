// SPDX-License-Identifier: Apache-2.0
/// What it costs that clients of an affinity group live on different nodes, or those of an
/// anti-affinity group on one.
///
/// Problem: a group of many has many pairs, and if each counted in full, what a scattered group
/// loses would grow with the square of its size: one of a dozen VMs would be brought onto one node
/// however short of CPU time that makes it. Approach: the pairs of an affinity group share out what
/// each client but one loses by living apart from the others. Property: a scattered group of n
/// equal clients loses n - 1 times what two lose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "placement/model/amounts.h"

namespace vmnuma::placement {

/// Lost time of one pair that is apart, in an affinity group of so many clients. `vcpus` are those
/// of the smaller one; `weight` is Numa.AffinityWeight.
[[nodiscard]] constexpr CpuTime loss_of_pair_apart(CpuTime epoch, std::int64_t vcpus,
                                                   std::int64_t weight, std::size_t clients) {
  const auto sharing = std::max<std::int64_t>(static_cast<std::int64_t>(clients), 2);
  return epoch * vcpus * weight * 2 / (sharing * 100);
}

/// The same of one pair that is together in an anti-affinity group: each counts in full, as each is
/// one fault that takes both. `weight` is Numa.AntiAffinityWeight.
[[nodiscard]] constexpr CpuTime loss_of_pair_together(CpuTime epoch, std::int64_t vcpus,
                                                      std::int64_t weight) {
  return epoch * vcpus * weight / 100;
}

}  // namespace vmnuma::placement
