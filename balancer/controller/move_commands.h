// SPDX-License-Identifier: Apache-2.0
/// Moves that are not part of a plan, as one action.
#pragma once

#include <vector>

#include "placement/arrangement.h"
#include "placement/base/result.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// The action that moves these clients at the same time, each with its memory. The clients are
/// distinct, have a home and may be moved. Errors: invalid-argument (one of them may not live
/// there), no-space.
[[nodiscard]] Result<placement::Action> moves_together(
    const placement::Snapshot& snapshot, const placement::Options& options,
    const std::vector<placement::Rehoming>& moves, placement::Reason reason);

}  // namespace vmnuma::balancer
