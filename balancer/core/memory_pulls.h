// SPDX-License-Identifier: Apache-2.0
/// Memory that ought to come home to clients that stay where they are.
///
/// Problem: memory ends up away from its client - spilled while a node was full, left behind by a
/// transfer, touched before the first placement - and nobody moves for it. Approach: every VM whose
/// clients all live somewhere and stay there gets its remote pages pulled home, as far as there is
/// room above the reserve. A client that has just come may yet go to its memory instead and waits
/// for that. Remote memory too small to be worth a transfer is left, and what a transfer could not
/// bring is tried again only after a while. Pages on the second node of a client that spills are no
/// reason for a pull: the kernel's NUMA balancing brings them to the threads there, and would do so
/// again.
///
/// Properties:
///  - a VM whose memory stays, that is stale, being moved or under transfer, gets none;
///  - no node is filled beyond its reserve by all pulls together.
#pragma once

#include <vector>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// One action a VM, in the order of the VMs, with localities and relocations; what is predicted for
/// the host is the caller's to fill in. `arrangement` has all homes as they will be.
[[nodiscard]] std::vector<placement::Action> memory_pulls(
    const placement::Arrangement& arrangement);

}  // namespace vmnuma::balancer
