// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/repack.h"

#include <algorithm>
#include <utility>

namespace vmnuma::balancer {

namespace {

constexpr std::int64_t kMostEpochs = 1000;

/// Returns the number of epochs after which every client may move again and everything periodic was
/// due.
std::int64_t long_enough(const Options& options) {
  return std::max({options.residency, options.no_return, options.swap_consider_period}) +
         std::max<std::int64_t>(options.swap_interval, 1) *
             std::max<std::int64_t>(options.swap_migrate_only, 1);
}

}  // namespace

Homes steady_state_homes(Snapshot snapshot, Options options, const Circumstances& circumstances) {
  options.lterm_fairness_interval = 0;
  std::int64_t quiet = 0;
  for (std::int64_t epoch = 0; epoch < kMostEpochs && quiet < long_enough(options); ++epoch) {
    const Plan plan = make_plan(snapshot, options, circumstances);
    quiet = plan.actions.empty() ? quiet + 1 : 0;
    snapshot = after_plan(std::move(snapshot), plan);
    ++snapshot.epoch;
    for (ClientState& client : snapshot.clients) {
      ++client.epochs_here;
      ++client.epochs_since_swap;
    }
    for (VmState& vm : snapshot.vms) {
      ++vm.epochs_since_transfer;
      ++vm.epochs_rested;
    }
  }
  Homes homes;
  for (const ClientState& client : snapshot.clients) {
    homes.push_back(client.home);
  }
  return homes;
}

Repack plan_repack(const Snapshot& snapshot, const Options& options,
                   const Circumstances& circumstances, const SearchLimits& limits,
                   const std::function<double()>& clock) {
  const double begin = clock();
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  Repack repack;
  repack.demand = sum_of(snapshot.clients, &ClientState::demand);
  repack.present = assess(now, now.homes());
  Homes rest = steady_state_homes(snapshot, options, circumstances);
  for (ClientIndex client = 0; client < rest.size(); ++client) {
    if (now.home(client) == kNoNode) {
      rest[client] = kNoNode;  // a first placement is not a move
    }
  }
  repack.planner = assess(now, rest);
  repack.optimum = find_optimum(now, rest, {limits.seconds - (clock() - begin), limits.gap}, clock);
  repack.sequence = in_order(now, repack.optimum.best.homes);
  return repack;
}

Repack plan_without_solver(const Snapshot& snapshot, const Options& options,
                           const Circumstances& circumstances, std::string trouble) {
  Repack repack = plan_repack(snapshot, options, circumstances, {.seconds = 0}, [] { return 0.0; });
  repack.optimum.trouble = std::move(trouble);
  return repack;
}

}  // namespace vmnuma::balancer
