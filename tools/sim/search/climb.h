// SPDX-License-Identifier: Apache-2.0
/// One climb: goes from the worst of a few random scenarios to worse ones, step by step, and then
/// shrinks the result to the smallest scenario that still shows the weakness.
///
/// Properties, each with a test: the result depends only on seed and number; the length of a climb
/// is limited by the number of trials, never by a clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/sim/scenario/random.h"
#include "tools/sim/search/weakness.h"

namespace vmnuma::tools {

/// How much a climb tries.
struct Effort {
  std::int64_t starts = 6;
  std::int64_t steps = 40;
  std::int64_t shrinks = 150;
};

struct ClimbResult {
  std::vector<Weakness> weaknesses;
  std::int64_t trials = 0;
};

/// Returns the random numbers of a climb, which it shares with no other climb of the same or any
/// other seed.
[[nodiscard]] Random random_of_climb(std::uint64_t seed, std::int64_t number);

/// Climbs. A difference of less than one per cent of demand does not count.
[[nodiscard]] ClimbResult climb(std::uint64_t seed, std::int64_t number, std::string_view against,
                                const Effort& effort);

}  // namespace vmnuma::tools
