// SPDX-License-Identifier: Apache-2.0
/// The sched-stats tables of an epoch.
///
/// Units: times in ms of the last epoch, memory in KB (1024 bytes), shares in per cent rounded
/// down. groupName is "vm.<pid of its QEMU>", groupID libvirt's domain id, clientID the client's
/// index; a client without a home has homeNode -1. Properties: used + idle = logical CPUs x epoch
/// on every node; local + remote = resident memory; a client without memory is 0 % local, as in
/// ESXi.
#pragma once

#include <string>

#include "balancer/core/ledger.h"
#include "migration/progress.h"
#include "placement/model/snapshot.h"
#include "placement/result.h"
#include "stats/reports/report.h"

namespace vmnuma::balancer {

/// Errors: not-found (no such type), naming the nearest one.
[[nodiscard]] Result<stats::Report> make_report(
    const std::string& type, const placement::Snapshot& snapshot, const Ledger& ledger,
    const std::vector<migration::TransferProgress>& transfers);

}  // namespace vmnuma::balancer
