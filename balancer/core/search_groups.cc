// SPDX-License-Identifier: Apache-2.0
// Moves that bring together or apart what the administrator declared to belong so.
#include "balancer/core/guards.h"
#include "balancer/core/search.h"

namespace vmnuma::balancer {

using placement::Arrangement;
using placement::ClientIndex;
using placement::NodeIndex;
using placement::Reason;
using placement::Rehoming;

void consider_group_moves(const Arrangement& arrangement, Considered& considered) {
  const placement::Snapshot& snapshot = arrangement.snapshot();
  std::optional<Promise> promise;  // most hosts have no groups at all
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const placement::VmPolicy& policy = snapshot.vms[snapshot.clients[client].vm].policy;
    if ((policy.affinity_group.empty() && policy.anti_affinity_group.empty()) ||
        arrangement.home(client) == placement::kNoNode ||
        why_it_stays(arrangement, client, Reason::kAffinityMove)) {
      continue;
    }
    if (!promise) {
      promise.emplace(arrangement);
    }
    for (const NodeIndex to : snapshot.clients[client].allowed) {
      if (to != arrangement.home(client)) {
        const Rehoming change{client, to};
        consider(arrangement, *promise, Reason::kAffinityMove, {&change, 1}, considered);
      }
    }
  }
}

}  // namespace vmnuma::balancer
