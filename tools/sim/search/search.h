// SPDX-License-Identifier: Apache-2.0
/// `vmnuma sim search`: looks for the scenarios in which the balancer does worst.
///
/// Problem: scenarios written by those who wrote the planner flatter it. Approach: many independent
/// climbs (climb.h), in rounds of kClimbsPerRound, on as many threads as there are CPUs; their
/// results are put together in the order of their numbers. Properties, each with a test:
///  - seed and rounds decide the result, whatever the threads;
///  - a search that is ended by time has found what one of so many rounds finds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/sim/search/climb.h"
#include "tools/sim/search/weakness.h"

namespace vmnuma::tools {

inline constexpr std::int64_t kClimbsPerRound = 4;

struct SearchPlan {
  std::uint64_t seed = 1;
  std::string against{kAgainstBest};
  Effort effort;
  std::int64_t threads = 1;
};

struct SearchResult {
  std::int64_t rounds = 0;
  std::int64_t trials = 0;
  std::vector<Weakness> weaknesses;  ///< in the order of climbs
};

/// `goes_on` is asked before each round with the number of rounds done; `climbed` is told how many
/// climbs are done, some times a second. Both by the caller's thread.
[[nodiscard]] SearchResult search(const SearchPlan& plan,
                                  const std::function<bool(std::int64_t rounds)>& goes_on,
                                  const std::function<void(std::int64_t climbs)>& climbed);

}  // namespace vmnuma::tools
