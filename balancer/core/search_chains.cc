// SPDX-License-Identifier: Apache-2.0
// Sets of two to four rehomings that belong together, if no single move and no swap helps: two
// small clients for a large one, one that makes room for another, three or four that change places.
#include <algorithm>
#include <array>

#include "balancer/core/search.h"
#include "balancer/core/shortlist.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kMostNodes = 4;
constexpr std::size_t kMostClients = 16;
constexpr std::size_t kMostInFours = 6;  ///< clients on all nodes

/// Returns the nodes that owe most and those that owe least.
std::vector<NodeIndex> extremes(std::vector<NodeIndex> nodes) {
  if (nodes.size() > kMostNodes) {
    nodes.erase(nodes.begin() + kMostNodes / 2, nodes.end() - kMostNodes / 2);
  }
  return nodes;
}

}  // namespace

void consider_chains(const Arrangement& arrangement, Considered& considered) {
  const std::vector<NodeIndex> nodes = extremes(nodes_by_owed(arrangement));
  if (nodes.size() < 2) {
    return;
  }
  // Small hosts are searched completely; on larger ones there would be too many combinations of
  // that many rehomings.
  std::vector<std::vector<ClientIndex>> movable;
  std::size_t all = 0;
  for (const NodeIndex node : nodes) {
    movable.push_back(movable_residents(arrangement, node, Reason::kLoadMove));
    all += movable.back().size();
  }
  std::vector<ClientIndex> clients;
  for (std::vector<ClientIndex>& residents : movable) {
    if (all > kMostClients) {
      residents = spread_out(residents, kMostClients / nodes.size());
    }
    clients.insert(clients.end(), residents.begin(), residents.end());
  }

  const std::size_t longest = all <= kMostInFours ? 4 : all <= kMostClients ? 3 : 2;
  Promise promise(arrangement);
  std::array<Rehoming, Arrangement::kMostTogether> changes;
  const auto try_sets = [&](const auto& self, std::size_t made, std::size_t next) -> void {
    if (made >= 2) {
      consider(arrangement, promise, Reason::kLoadMove, std::span(changes).first(made), considered);
    }
    if (made == longest) {
      return;
    }
    for (std::size_t i = next; i < clients.size(); ++i) {
      for (const NodeIndex to : nodes) {
        if (to != arrangement.home(clients[i])) {
          changes[made] = {clients[i], to};
          self(self, made + 1, i + 1);
        }
      }
    }
  };
  try_sets(try_sets, 0, 0);
}

}  // namespace vmnuma::balancer
