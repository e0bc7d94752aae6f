// SPDX-License-Identifier: Apache-2.0
/// The whole host in one answer: nodes, clients and counters.
#pragma once

#include "balancer/controller/totals.h"
#include "balancer/core/ledger.h"
#include "balancer/model/view.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Nodes and VMs are in the order of the snapshot. Those that were not measured in its epoch have
/// no figures. What only the controller knows is left out: promises, advice, and the last three
/// fields.
[[nodiscard]] HostView host_view(const Snapshot& snapshot, const Ledger& ledger,
                                 const Totals& totals);

}  // namespace vmnuma::balancer
