// SPDX-License-Identifier: Apache-2.0
/// Weighted max-min fairness ("water filling") with floors and ceilings.
///
/// Problem: one supply of CPU time, many claimants with weights; no claimant may get more than it
/// can use or less than it was promised, and what one leaves the others share by weight. Approach:
/// every share is clamp(weight x level, floor, ceiling). The sum is a piecewise linear, growing
/// function of the level; its pieces end at the claims' floor / weight and ceiling / weight. We
/// sort those ends and walk up until the supply is used. Whole microseconds are handed out by
/// largest remainder.
/// Terms: *level* - what one unit of weight gets.
/// Properties:
///  1. Shares add up to min(supply, sum of ceilings), exactly.
///  2. No share exceeds its ceiling; none falls below its floor while the floors fit into the
///     supply.
///  3. Between two claims that hit neither floor nor ceiling, shares are in the ratio of the
///     weights (+-1 us).
///  4. Floors that do not fit are cut in proportion.
///  5. More supply never lowers a share by more than the 1 us of rounding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma {

struct Claim {
  std::int64_t weight = 1;  ///< at least 1
  CpuTime floor;            ///< promised; counts only up to the ceiling
  CpuTime ceiling;          ///< the most it can use
};

/// Returns the shares, in the order of the claims. Negative supply counts as none.
[[nodiscard]] std::vector<CpuTime> fair_shares(CpuTime supply, std::span<const Claim> claims);

}  // namespace vmnuma
