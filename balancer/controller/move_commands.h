// SPDX-License-Identifier: Apache-2.0
/// Moves that nobody planned, as one action.
#pragma once

#include <vector>

#include "placement/arrangement.h"
#include "placement/base/result.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// What moves these clients at the same time, each with its memory. They are different ones, which
/// have a home and may be moved. Errors: invalid-argument (one of them may not live there),
/// no-space.
[[nodiscard]] Result<placement::Action> moves_together(
    const placement::Snapshot& snapshot, const placement::Options& options,
    const std::vector<placement::Rehoming>& moves, placement::Reason reason);

}  // namespace vmnuma::balancer
