// SPDX-License-Identifier: Apache-2.0
/// One climb: from the worst of a few random scenarios to worse ones, step by step, and then down
/// to the smallest that still shows it.
///
/// Properties, each with a test: seed and number decide what is found; how long a climb takes is
/// limited by numbers of trials, never by a clock.
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

/// Its source of randomness: no two climbs, of one seed or of two, share it.
[[nodiscard]] Random random_of_climb(std::uint64_t seed, std::int64_t number);

/// A difference of less than one per cent of demand is none.
[[nodiscard]] ClimbResult climb(std::uint64_t seed, std::int64_t number, std::string_view against,
                                const Effort& effort);

}  // namespace vmnuma::tools
