// SPDX-License-Identifier: Apache-2.0
/// The present homes, the homes to which the planner would bring its clients, the best homes, and
/// the way to these.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "balancer/core/planner.h"
#include "balancer/optimal/assignment.h"
#include "balancer/optimal/sequence.h"

namespace vmnuma::balancer {

struct Repack {
  CpuTime demand;  ///< of all clients together, per epoch
  Assignment present;
  Assignment planner;  ///< where it comes to rest
  Optimum optimum;
  Sequence sequence;  ///< from the present homes to the best, to the extent that there is a way
};

/// Returns the homes after epochs have been planned and carried out one after the other, with the
/// present demand of every client, until nothing has moved for longer than any period of the
/// planner. Turns, which never come to rest, are left out.
[[nodiscard]] Homes steady_state_homes(Snapshot snapshot, Options options,
                                       const Circumstances& circumstances);

/// `clock` returns seconds. Clients without a home remain without one.
[[nodiscard]] Repack plan_repack(const Snapshot& snapshot, const Options& options,
                                 const Circumstances& circumstances, const SearchLimits& limits,
                                 const std::function<double()>& clock);

/// The same without a solver: the best homes are those that the planner reaches, and no bound is
/// known.
[[nodiscard]] Repack plan_without_solver(const Snapshot& snapshot, const Options& options,
                                         const Circumstances& circumstances, std::string trouble);

}  // namespace vmnuma::balancer
