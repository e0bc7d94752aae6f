// SPDX-License-Identifier: Apache-2.0
/// Selects the part of a snapshot that is stored in the history.
#pragma once

#include "placement/model/snapshot.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

/// Returns the rows of the epoch that ended at `time`. Nodes and VMs with missing or stale readings
/// are left out, so that averages cover measured epochs only. Pure.
[[nodiscard]] EpochRows epoch_rows(const Snapshot& snapshot, WallTime time);

}  // namespace vmnuma::stats
