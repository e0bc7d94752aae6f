// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/owed_drops.h"

#include <algorithm>
#include <cstddef>

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kMostTried = 10;
constexpr std::int64_t kSteps = 8;

/// Returns what each set of residents is owed; the index is the set as bits.
std::vector<CpuTime> owed_by_sets(const Supply& supply, const std::vector<Load>& residents) {
  std::vector<CpuTime> owed;
  for (std::size_t set = 0; set < std::size_t{1} << residents.size(); ++set) {
    std::vector<Load> loads;
    for (std::size_t i = 0; i < residents.size(); ++i) {
      if ((set >> i & 1U) != 0) {
        loads.push_back(residents[i]);
      }
    }
    owed.push_back(NodeLoad(supply, loads).owed());
  }
  return owed;
}

bool hold(const std::vector<CpuTime>& drops, const std::vector<CpuTime>& owed_by_sets,
          CpuTime owed) {
  for (std::size_t set = 0; set < owed_by_sets.size(); ++set) {
    CpuTime least = owed;
    for (std::size_t i = 0; i < drops.size(); ++i) {
      least -= (set >> i & 1U) != 0 ? CpuTime{} : drops[i];
    }
    if (owed_by_sets[set] < least) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<CpuTime> drops_of(const Supply& supply, const std::vector<Load>& residents,
                              CpuTime owed) {
  std::vector<CpuTime> most;
  most.reserve(residents.size());
  for (const Load& load : residents) {
    most.push_back(std::min(load.demand, owed));  // no client is ever owed less than zero
  }
  if (residents.size() > kMostTried) {
    return most;
  }
  // The drop when a client leaves alone is the least there can be, and mostly enough.
  const std::vector<CpuTime> by_sets = owed_by_sets(supply, residents);
  const std::size_t all = by_sets.size() - 1;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    std::vector<CpuTime> drops;
    for (std::size_t i = 0; i < residents.size(); ++i) {
      const CpuTime least =
          std::clamp(owed - by_sets[all & ~(std::size_t{1} << i)], CpuTime{}, most[i]);
      drops.push_back(least + (most[i] - least) * step / kSteps);
    }
    if (hold(drops, by_sets, owed)) {
      return drops;
    }
  }
  return most;
}

}  // namespace vmnuma::balancer
