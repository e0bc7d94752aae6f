// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/repack.h"

#include <utility>

#include "balancer/optimal/rest.h"

namespace vmnuma::balancer {

Repack plan_repack(const Snapshot& snapshot, const Options& options,
                   const Circumstances& circumstances, const SearchLimits& limits,
                   const std::function<double()>& clock) {
  const double begin = clock();
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  Repack repack;
  for (const ClientState& client : snapshot.clients) {
    repack.demand += client.demand;
  }
  repack.present = assess(now, homes_of(now));
  Homes rest = steady_state_homes(snapshot, options, circumstances);
  for (ClientIndex client = 0; client < rest.size(); ++client) {
    if (now.home(client) == kNoNode) {
      rest[client] = kNoNode;  // a first placement is not a move
    }
  }
  repack.planner = assess(now, rest);
  Optimum optimum =
      find_optimum(now, rest, {limits.seconds - (clock() - begin), limits.gap}, clock);
  repack.best = std::move(optimum.best);
  repack.bound = optimum.bound;
  repack.rounds = optimum.rounds;
  repack.trouble = std::move(optimum.trouble);
  repack.sequence = in_order(now, repack.best.homes);
  return repack;
}

Repack plan_without_solver(const Snapshot& snapshot, const Options& options,
                           const Circumstances& circumstances, std::string trouble) {
  Repack repack = plan_repack(snapshot, options, circumstances, {.seconds = 0}, [] { return 0.0; });
  repack.trouble = std::move(trouble);
  return repack;
}

}  // namespace vmnuma::balancer
