// SPDX-License-Identifier: Apache-2.0
/// Pulls: memory that should come home to clients that stay where they are.
///
/// Problem: memory ends up away from its client - spilled while a node was full, left behind by a
/// transfer, touched before the first placement - and no client moves for it. Approach: if all
/// clients of a VM have homes and stay there, its remote pages are pulled home, to the extent that
/// there is room above the reserve. A client that has just arrived may yet go to its memory
/// instead, so its pull waits. Remote memory too small to be worth a transfer is left, and what a
/// transfer could not bring is tried again only after a while. For a client that spills, pages that
/// were at home and are now on its second node are no reason for a pull: the kernel's NUMA
/// balancing brought them to the threads there, and would do so again.
///
/// Properties:
///  - a VM whose memory stays, or that is stale, being moved or under transfer, gets none;
///  - no node is filled beyond its reserve by all pulls together.
#pragma once

#include <vector>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Returns one action per VM, in the order of the VMs, with localities and relocations; the caller
/// adds the predictions for the host. `arrangement` has all homes as they will be.
[[nodiscard]] std::vector<Action> memory_pulls(const Arrangement& arrangement);

}  // namespace vmnuma::balancer
