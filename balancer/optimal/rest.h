// SPDX-License-Identifier: Apache-2.0
/// Where the planner comes to rest.
#pragma once

#include "balancer/core/planner.h"
#include "balancer/optimal/program.h"

namespace vmnuma::balancer {

/// The homes when epoch after epoch has been planned and carried out, with everybody's demand as it
/// is now, until nothing has moved for as long as anything is periodic. Turns, which never rest,
/// are left out.
[[nodiscard]] Homes steady_state_homes(placement::Snapshot snapshot, placement::Options options,
                                       const Circumstances& circumstances);

}  // namespace vmnuma::balancer
