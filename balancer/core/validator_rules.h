// SPDX-License-Identifier: Apache-2.0
/// The rules of a plan that can be checked on a snapshot alone, and those about the effect of its
/// moves, computed before and after each. For validator.cc only.
#pragma once

#include <string>
#include <vector>

#include "balancer/core/planner.h"
#include "balancer/core/reckoning.h"

namespace vmnuma::balancer {

/// "'web'/0"
[[nodiscard]] std::string client_name(const Snapshot& snapshot, ClientIndex client);

/// Returns the switches, intervals and thresholds that keep the action out of this epoch's plan.
[[nodiscard]] std::vector<std::string> broken_by_time(const Action& action,
                                                      const Snapshot& snapshot,
                                                      const Options& options,
                                                      const Circumstances& circumstances);

/// Returns why this client may not be moved, placed or pulled, or not to that node.
[[nodiscard]] std::vector<std::string> broken_by_client(Reason reason, ClientIndex client,
                                                        NodeIndex to, const Snapshot& snapshot,
                                                        const Options& options);

/// What one action changed.
struct MoveEffect {
  const Action& action;
  std::vector<Rehoming> changes;
  std::vector<NodeIndex> from;          ///< in the order of `changes`
  Permille locality;                    ///< increase of their memory's local share
  CpuTime talk;                         ///< gained by bringing talkers together
  std::vector<CpuTime> owed_before;     ///< per client
  std::vector<Permille> shares_before;  ///< owed, per node
  bool is_alone = false;                ///< nothing moved or was placed before it in the plan
};

/// Returns how far an owed share may differ from the result of running sums.
[[nodiscard]] Permille share_rounding(const Reckoning& reckoning, const Snapshot& snapshot);

/// Returns why the turn, which is not applied yet, comes too early.
[[nodiscard]] std::vector<std::string> broken_by_turn(const Rehoming& turn, const Reckoning& before,
                                                      const Snapshot& snapshot,
                                                      const Options& options);

/// Returns why a move does not gain what it must, or costs others too much.
[[nodiscard]] std::vector<std::string> broken_by_effect(const MoveEffect& effect,
                                                        const Reckoning& after,
                                                        const Snapshot& snapshot,
                                                        const Options& options);

}  // namespace vmnuma::balancer
