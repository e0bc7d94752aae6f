// SPDX-License-Identifier: Apache-2.0
/// What of a snapshot goes into the history.
#pragma once

#include "placement/model/snapshot.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

/// One epoch that ended at `time`. Nodes and VMs whose readings are missing or stale are left out,
/// so that averages are made of measured epochs only. Pure.
[[nodiscard]] EpochRows epoch_rows(const placement::Snapshot& snapshot, WallTime time);

}  // namespace vmnuma::stats
