// SPDX-License-Identifier: Apache-2.0
/// Where the planner comes to rest.
#pragma once

#include "balancer/core/planner.h"
#include "balancer/optimal/program.h"

namespace vmnuma::balancer {

/// Returns the homes after epochs have been planned and carried out one after the other, with the
/// present demand of every client, until nothing has moved for longer than any period of the
/// planner. Turns, which never come to rest, are left out.
[[nodiscard]] Homes steady_state_homes(Snapshot snapshot, Options options,
                                       const Circumstances& circumstances);

}  // namespace vmnuma::balancer
