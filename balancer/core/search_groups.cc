// SPDX-License-Identifier: Apache-2.0
// Moves that bring VMs together, or apart, as the administrator declared; bring VMs to devices that
// they want near; and bring together VMs that talk to each other.
#include <array>

#include "balancer/core/guards.h"
#include "balancer/core/search.h"

namespace vmnuma::balancer {

void consider_group_moves(const Arrangement& arrangement, Considered& considered) {
  const Snapshot& snapshot = arrangement.snapshot();
  std::optional<Promise> promise;  // most hosts have neither
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const bool declared = has_declared_place(arrangement, client);
    if ((!declared && !arrangement.talks(client) && !arrangement.has_siblings(client)) ||
        arrangement.home(client) == kNoNode ||
        check_client(arrangement, client, Reason::kAffinityMove)) {
      continue;
    }
    if (!promise) {
      promise.emplace(arrangement);
    }
    for (const NodeIndex to : snapshot.clients[client].allowed) {
      if (to != arrangement.home(client) && (declared || arrangement.talks_to(client, to) ||
                                             arrangement.has_sibling_on(client, to))) {
        consider(arrangement, *promise, Reason::kAffinityMove, std::array{Rehoming{client, to}},
                 considered);
      }
    }
  }
}

}  // namespace vmnuma::balancer
