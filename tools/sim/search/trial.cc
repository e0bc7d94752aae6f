// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/trial.h"

#include "tools/sim/bound.h"
#include "tools/sim/policies/policy.h"

namespace vmnuma::tools {

std::vector<std::string_view> opponents() {
  std::vector<std::string_view> all{kAgainstBest, kAgainstOptimal};
  all.insert(all.end(), kPeers.begin(), kPeers.end());
  return all;
}

Trial try_out(const Scenario& scenario, std::string_view against, std::int64_t enough) {
  Trial trial;
  trial.ours = run_under(scenario, kOurs);
  trial.behind = trial.ours.lost.value;
  if (trial.behind < enough) {
    return trial;
  }
  if (against == kAgainstOptimal) {
    trial.opponent = kBound;
    Bound bound;
    (void)run_under(scenario, kLeftAlone, &bound);
    trial.opponent_lost = bound.lost();
  } else {
    for (const std::string_view peer : kPeers) {
      if (against != kAgainstBest && against != peer) {
        continue;
      }
      const SimulationResult result = run_under(scenario, peer);
      if (trial.opponent.empty() || result.lost < trial.opponent_lost) {
        trial.opponent = peer;
        trial.opponent_lost = result.lost;
        trial.opponent_owed = result.owed;
      }
    }
  }
  trial.behind = (trial.ours.lost - trial.opponent_lost).value;
  return trial;
}

}  // namespace vmnuma::tools
