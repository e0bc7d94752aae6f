// SPDX-License-Identifier: Apache-2.0
/// Moves that are not part of a plan: as a command names them, and as one action.
#pragma once

#include <vector>

#include "balancer/controller/controller_state.h"
#include "placement/arrangement.h"
#include "placement/base/result.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Returns the move that is asked for. Errors: not-found (no such VM or client), invalid-argument.
[[nodiscard]] Result<Rehoming> rehoming_of(const ControllerState& state, const Snapshot& snapshot,
                                           const MoveRequest& asked);

/// Returns the action that moves these clients at the same time, each with its memory. The clients
/// must be distinct, have a home and be movable. Errors: invalid-argument (one of them may not live
/// there), no-space.
[[nodiscard]] Result<Action> moves_together(const Snapshot& snapshot, const Options& options,
                                            const std::vector<Rehoming>& moves, Reason reason);

}  // namespace vmnuma::balancer
