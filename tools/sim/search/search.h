// SPDX-License-Identifier: Apache-2.0
/// `vmnuma sim search`: looks for the scenarios in which the balancer does worst.
///
/// Problem: scenarios written by the authors of the planner present it too favorably. Approach:
/// many independent climbs (climb.h), in rounds of kClimbsPerRound, on as many threads as there are
/// CPUs; their results are combined in the order of their numbers.
///
/// Properties, each with a test:
///  - the result depends only on seed and number of rounds, not on the number of threads;
///  - a search that is ended by a time limit gives the same result as one of that many rounds.
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

/// Searches. `goes_on` is called before each round with the number of rounds done; `climbed` is
/// called with the number of climbs done, a few times per second. Both are called in the caller's
/// thread.
[[nodiscard]] SearchResult search(const SearchPlan& plan,
                                  const std::function<bool(std::int64_t rounds)>& goes_on,
                                  const std::function<void(std::int64_t climbs)>& climbed);

}  // namespace vmnuma::tools
