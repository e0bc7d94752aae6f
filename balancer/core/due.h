// SPDX-License-Identifier: Apache-2.0
/// Decides when load moves and swaps are made: in which epochs, and from which imbalance on.
///
/// Problem: moves (Numa.SwapMigrateOnly) and swaps (Numa.SwapInterval) are due only every few
/// epochs, so that not every burst moves a client; but a load that comes and goes in step with
/// epochs may only be present in the epochs between. And an imbalance below
/// Numa.MigImbalanceThreshold may be one of many that come and go, which moves would only chase, or
/// one that stays and costs as much in every epoch. Approach: what is owed in this epoch and in the
/// few before it, which a snapshot contains, distinguishes a load in step with epochs from one that
/// has just begun. What clients were owed over minutes distinguishes an imbalance that stays.
///
/// Properties:
///  - a load that is present in every second epoch is balanced, whichever these are;
///  - one that has just begun waits for the next epoch that is due;
///  - a small imbalance starts moves once it has lasted for minutes, and not before.
///
/// Pure.
#pragma once

#include <cstdint>

#include "placement/arrangement.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Returns true in every `interval`th epoch; never if `interval` is 0.
[[nodiscard]] inline bool epoch_is_due(std::int64_t epoch, std::int64_t interval) {
  return interval > 0 && epoch % interval == 0;
}

/// Returns true in the same epochs, and in others if much less was owed in the last one that was
/// due, and as much in one before that. Looks back fewer than Numa.LTermFairnessInterval epochs.
[[nodiscard]] bool is_due_for_load(const Snapshot& snapshot, std::int64_t interval);

/// Returns true if owed / capacity of two nodes differs by Numa.MigImbalanceThreshold; or by a
/// third of it if what each node owes counts only up to what it owed on average over minutes. The
/// third does not apply if Numa.ShortageHalfLife is 0, which means to ignore how long a shortage
/// has lasted.
[[nodiscard]] bool is_imbalanced(const Arrangement& arrangement);

}  // namespace vmnuma::balancer
