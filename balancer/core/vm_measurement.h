// SPDX-License-Identifier: Apache-2.0
/// What a VM and its clients used, wanted and have in memory, by an epoch's readings.
///
/// Problem: readings are at times missing, or of another process or other threads, and what they
/// say of an epoch says little about the next. Approach: what follows from two readings is taken
/// into the VM's record, and from there into the snapshot; what is not known now is held as it was,
/// and the VM is marked stale. Averages over seconds and minutes, pending load and forecasts turn
/// that into the figures that plans use.
///
/// Terms: *beside* - what QEMU's threads other than vCPUs, and other processes in the VM's cgroup,
/// use. Properties: 1 to 3, 7 and 8 of ledger.h; and
///  - what is used beside the vCPUs counts as used by the clients, as far as it lasts;
///  - it does not contradict a forecast, which is of vCPUs.
#pragma once

#include "balancer/core/epoch_reading.h"
#include "balancer/core/records.h"
#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Takes the VM's readings into its record, and adds it and its clients to the snapshot, which must
/// have its epoch length.
void measure_vm(VmRecord& vm, const EpochReading& reading, Snapshot& snapshot);

/// The 95th percentile of a forecast as plans use it (Numa.ForecastMargin).
[[nodiscard]] Permille with_margin(Permille p95, const Options& options);

}  // namespace vmnuma::balancer
