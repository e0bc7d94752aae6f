// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/trial.h"

#include <memory>
#include <utility>

#include "tools/sim/bound.h"
#include "tools/sim/policies/policy.h"
#include "tools/sim/simulation.h"

namespace vmnuma::tools {

namespace {

SimulationResult run(const Scenario& scenario, std::unique_ptr<Policy> policy) {
  Simulation simulation(scenario, std::move(policy));
  while (!simulation.finished()) {
    simulation.run_epoch();
  }
  return simulation.result();
}

Percentage bound_of(const Scenario& scenario) {
  Simulation simulation(scenario, make_policy("none"));
  Bound bound;
  while (!simulation.finished()) {
    simulation.run_epoch();
    bound.epoch_ended(simulation);
  }
  return bound.lost();
}

}  // namespace

std::vector<std::string_view> opponents() {
  std::vector<std::string_view> all{kAgainstBest, kAgainstOptimal};
  all.insert(all.end(), kPeers.begin(), kPeers.end());
  return all;
}

Trial try_out(const Scenario& scenario, std::string_view against, std::int64_t enough) {
  Trial trial;
  trial.ours = run(scenario, nullptr);
  trial.behind = trial.ours.lost.value;
  if (trial.behind < enough) {
    return trial;
  }
  if (against == kAgainstOptimal) {
    trial.opponent = kBound;
    trial.opponent_lost = bound_of(scenario);
  } else {
    for (const std::string_view peer : kPeers) {
      if (against != kAgainstBest && against != peer) {
        continue;
      }
      const SimulationResult result = run(scenario, make_policy(peer));
      if (trial.opponent.empty() || result.lost.value < trial.opponent_lost.value) {
        trial.opponent = peer;
        trial.opponent_lost = result.lost;
        trial.opponent_owed = result.owed;
      }
    }
  }
  trial.behind = trial.ours.lost.value - trial.opponent_lost.value;
  return trial;
}

}  // namespace vmnuma::tools
