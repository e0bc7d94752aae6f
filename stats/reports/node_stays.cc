// SPDX-License-Identifier: Apache-2.0
#include "stats/reports/node_stays.h"

#include <utility>

namespace vmnuma::stats {

void NodeStays::advance(const Snapshot& snapshot) {
  std::map<ClientId, Life> lives;
  for (const ClientState& client : snapshot.clients) {
    Life& life = lives[client.id];
    if (const auto known = lives_.find(client.id); known != lives_.end()) {
      life = std::move(known->second);
    }
    if (client.home != kNoNode) {
      const NodeId home = snapshot.topology.nodes[client.home].id;
      NodeStay& stay = life.stays[home];
      ++stay.epochs;
      stay.arrivals += life.last == home ? 0 : 1;
      life.last = home;
    }
  }
  lives_ = std::move(lives);
}

const std::map<NodeId, NodeStay>& NodeStays::of(const ClientId& client) const {
  const auto found = lives_.find(client);
  return found == lives_.end() ? none_ : found->second.stays;
}

}  // namespace vmnuma::stats
