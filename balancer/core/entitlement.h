// SPDX-License-Identifier: Apache-2.0
/// What everybody is entitled to, and what it is owed.
///
/// Problem: "this VM gets too little" needs a measure that does not depend on where VMs happen to
/// live. Approach: the nodes whose CPUs a VM can use are taken as one large node, and their time is
/// shared out by weight (placement/confined_shares.h), each VM's part again among its clients.
/// Nobody is entitled to what no single node, or two where clients may spill (spill.h), could give
/// it. What a client was entitled to and did not get in core time is owed.
///
/// Properties:
///  1. owed = max(0, min(entitled, demand) - effective used - excused), effective used = used x
///  efficiency of the node.
///  2. Entitlements add up to at most what the host can give for the demand, and to all of it where
///  every client could use its part on one node; those of VMs that are confined to some nodes, to
///  at most what these can give.
///  3. Nodes that cannot be a home add nothing where nobody spills: their CPUs help nobody then.
///  4. A reservation is entitled before weights are looked at.
///  5. Excused is waiting beside idle CPUs of one's own node: the kernel's wake-ups took that long,
///  and no placement can give it back. A node's clients are excused from as much as it was idle.
#pragma once

#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Fills in what follows from supply (cores, threads, non-VM time), homes, use, demand and load:
/// the nodes' sums, capacities and load averages, and everybody's entitled, effective used and owed
/// time.
void share_out(placement::Snapshot& snapshot, const placement::Options& options);

}  // namespace vmnuma::balancer
