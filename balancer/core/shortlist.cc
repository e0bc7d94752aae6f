// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/shortlist.h"

#include <algorithm>

#include "balancer/core/guards.h"

namespace vmnuma::balancer {

std::vector<NodeIndex> nodes_by_owed(const Arrangement& arrangement) {
  std::vector<NodeIndex> nodes = known_homes(arrangement.snapshot());
  std::ranges::stable_sort(nodes, [&](NodeIndex a, NodeIndex b) {
    return arrangement.owed_share(a) > arrangement.owed_share(b);
  });
  return nodes;
}

std::vector<ClientIndex> movable_residents(const Arrangement& arrangement, NodeIndex node,
                                           Reason reason) {
  std::vector<ClientIndex> clients;
  for (const ClientIndex client : arrangement.residents(node)) {
    if (!check_client(arrangement, client, reason)) {
      clients.push_back(client);
    }
  }
  std::ranges::stable_sort(clients, [&](ClientIndex a, ClientIndex b) {
    return arrangement.load(a).demand > arrangement.load(b).demand;
  });
  return clients;
}

std::vector<ClientIndex> spread_out(const std::vector<ClientIndex>& clients, std::size_t count) {
  if (clients.size() <= count) {
    return clients;
  }
  std::vector<ClientIndex> chosen;
  chosen.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(clients[i * (clients.size() - 1) / (count - 1)]);
  }
  return chosen;
}

}  // namespace vmnuma::balancer
