// SPDX-License-Identifier: Apache-2.0
/// A snapshot as it should look once a plan has been carried out.
#pragma once

#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Returns the snapshot with clients on their new homes, and their memory there to the extent that
/// there is room above the reserve. What was measured - used, owed - is unchanged. Relocations of
/// clients that are not in the snapshot are ignored.
[[nodiscard]] Snapshot after_plan(Snapshot snapshot, const Plan& plan);

}  // namespace vmnuma::balancer
