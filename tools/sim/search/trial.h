// SPDX-License-Identifier: Apache-2.0
/// One scenario under the balancer and under its peers: how far the balancer is behind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/sim/comparison.h"
#include "tools/sim/scenario/scenario.h"
#include "tools/sim/simulation_result.h"

namespace vmnuma::tools {

/// What the balancer is compared with: `best`, the best of kPeers in each scenario; one of these;
/// or `optimal`, the bound.
inline constexpr std::string_view kAgainstBest = "best";
inline constexpr std::string_view kAgainstOptimal = "optimal";
[[nodiscard]] std::vector<std::string_view> opponents();

struct Trial {
  SimulationResult ours;
  std::string opponent;  ///< the peer that loses least, or "bound"
  Percentage opponent_lost;
  Percentage opponent_owed;  ///< of it; unknown, and 0, for the bound
  /// Lost by the balancer less lost by the opponent, in thousandths of a per cent of demand. If
  /// `enough` was not reached: an upper limit of it.
  std::int64_t behind = 0;
};

/// `against` is one of opponents(). Peers are not run if the balancer itself loses less than
/// `enough` (in thousandths of a per cent).
[[nodiscard]] Trial try_out(const Scenario& scenario, std::string_view against,
                            std::int64_t enough);

}  // namespace vmnuma::tools
