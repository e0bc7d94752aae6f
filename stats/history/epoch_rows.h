// SPDX-License-Identifier: Apache-2.0
/// The part of a snapshot that goes into the history.
#pragma once

#include "placement/model/snapshot.h"
#include "stats/history/rows.h"

namespace vmnuma::stats {

/// One epoch that ended at `time`. Nodes and VMs with missing or stale readings are left out, so
/// that averages cover measured epochs only. Pure.
[[nodiscard]] EpochRows epoch_rows(const Snapshot& snapshot, WallTime time);

}  // namespace vmnuma::stats
