// SPDX-License-Identifier: Apache-2.0
/// What every client is entitled to, and what it is owed.
///
/// Problem: "this VM gets too little" needs a measure that does not depend on where VMs happen to
/// live. Approach: the nodes on which a VM can use CPUs count as one large node, whose time is
/// shared out by weight (placement/confined_shares.h); each VM's part is then shared out among its
/// clients. No client is entitled to more than a single node, or two if clients may spill
/// (spill.h), could give it. What a client was entitled to and did not get in core time is owed.
///
/// Properties:
///  1. owed = max(0, min(entitled, demand) - effective used - excused), effective used = used x
///     efficiency of the node.
///  2. Entitlements add up to at most what the host can give for the demand, and to all of it if
///     every client could use its part on one node. The entitlements of VMs that are confined to
///     some nodes add up to at most what these nodes can give.
///  3. Nodes that cannot be a home add nothing if clients do not spill, because no client can then
///     use their CPUs.
///  4. Reservations are served before weights.
///  5. Waiting while CPUs of the client's own node idle is excused: the kernel's wake-ups took that
///     long, and no placement can give it back. A node's clients are excused for as much time as
///     the node was idle.
#pragma once

#include "placement/model/options.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Computes what follows from supply (cores, threads, non-VM time), homes, use, demand and load:
/// the nodes' sums, capacities and load averages, and the entitled, effective used and owed time of
/// every client.
void share_out(Snapshot& snapshot, const Options& options);

}  // namespace vmnuma::balancer
