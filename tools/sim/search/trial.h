// SPDX-License-Identifier: Apache-2.0
/// Runs a scenario under the balancer and its peers to find out how far the balancer is behind.
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
  Percentage opponent_owed;  ///< owed time of the opponent; unknown, and 0, for the bound
  /// What the balancer loses minus what the opponent loses, in thousandths of a per cent of demand.
  /// If `enough` was not reached, an upper limit of that.
  std::int64_t behind = 0;
};

/// Runs the scenario. `against` is one of opponents(). Peers are not run if the balancer itself
/// loses less than `enough` (in thousandths of a per cent).
[[nodiscard]] Trial try_out(const Scenario& scenario, std::string_view against,
                            std::int64_t enough);

}  // namespace vmnuma::tools
