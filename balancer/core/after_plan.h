// SPDX-License-Identifier: Apache-2.0
/// A snapshot as it should look when a plan has been carried out.
#pragma once

#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// New homes, and memory there as far as there is room above the reserve. What was measured - used,
/// owed - stays as it was. Relocations of clients that the snapshot does not have are left out.
[[nodiscard]] placement::Snapshot after_plan(placement::Snapshot snapshot,
                                             const placement::Plan& plan);

}  // namespace vmnuma::balancer
