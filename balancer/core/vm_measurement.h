// SPDX-License-Identifier: Apache-2.0
/// Measures what a VM and its clients used, wanted and have in memory, from an epoch's readings.
///
/// Problem: readings are at times missing, or of another process or other threads, and those of one
/// epoch do not predict the next. Approach: what follows from two readings is recorded in the VM's
/// record, and copied from there into the snapshot; what is not known now is held as it was, and
/// the VM is marked stale. Averages over seconds and minutes, pending load and forecasts turn that
/// into the figures that plans use.
///
/// Terms: *beside* - what QEMU's threads other than vCPUs, and other processes in the VM's cgroup,
/// use.
/// Properties: 1 to 3, 7 and 8 of ledger.h; and
///  - what is used beside the vCPUs counts as used by the clients, to the extent that it lasts;
///  - it is left out when the load is compared with a forecast, which covers only vCPUs.
#pragma once

#include "balancer/core/epoch_reading.h"
#include "balancer/core/records.h"
#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Adds the VM's readings to its record, and the VM and its clients to the snapshot, which must
/// have its epoch length already.
void measure_vm(VmRecord& vm, const EpochReading& reading, Snapshot& snapshot);

/// Returns the 95th percentile of a forecast as plans use it (Numa.ForecastMargin).
[[nodiscard]] Permille with_margin(Permille p95, const Options& options);

}  // namespace vmnuma::balancer
