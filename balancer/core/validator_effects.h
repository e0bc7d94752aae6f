// SPDX-License-Identifier: Apache-2.0
/// The rules on what a plan's moves bring, computed before and after each. For validator.cc only.
#pragma once

#include <string>
#include <vector>

#include "balancer/core/reckoning.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// What one action changed.
struct MoveEffect {
  const placement::Action& action;
  std::vector<placement::Rehoming> changes;
  std::vector<placement::NodeIndex> from;          ///< in the order of `changes`
  placement::Permille locality;                    ///< growth in their memory's local share
  placement::CpuTime talk;                         ///< gained by bringing talkers together
  std::vector<placement::CpuTime> owed_before;     ///< per client
  std::vector<placement::Permille> shares_before;  ///< owed, per node
  bool is_alone = false;  ///< nothing moved or was placed before it in the plan
};

/// How far an owed share may differ from what running sums give.
[[nodiscard]] placement::Permille share_rounding(const Reckoning& reckoning,
                                                 const placement::Snapshot& snapshot);

/// Why the turn, which is not applied yet, comes too early.
[[nodiscard]] std::vector<std::string> broken_by_turn(const placement::Rehoming& turn,
                                                      const Reckoning& before,
                                                      const placement::Snapshot& snapshot,
                                                      const placement::Options& options);

/// Why a move does not bring what it must, or costs others too much.
[[nodiscard]] std::vector<std::string> broken_by_effect(const MoveEffect& effect,
                                                        const Reckoning& after,
                                                        const placement::Snapshot& snapshot,
                                                        const placement::Options& options);

}  // namespace vmnuma::balancer
