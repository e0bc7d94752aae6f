// SPDX-License-Identifier: Apache-2.0
// Moves and swaps that even out owed CPU time.
#include <algorithm>
#include <array>
#include <functional>

#include "balancer/core/guards.h"
#include "balancer/core/search.h"
#include "balancer/core/shortlist.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kSourcesTried = 4;    ///< nodes with clients paired for swaps
constexpr std::size_t kAllPairsUpTo = 100;  ///< pairs of two nodes tried one by one
constexpr std::size_t kPartnersTried = 3;

/// Returns the part of `partners` (most demand first) in which to look for one to swap with
/// `client`: the few whose demand is nearest to the client's less what should move over.
std::span<const ClientIndex> likely_partners(const Arrangement& arrangement, ClientIndex client,
                                             std::span<const ClientIndex> partners,
                                             CpuTime excess_demand) {
  const CpuTime wanted = arrangement.load(client).demand - excess_demand;
  const auto nearest = std::partition_point(
      partners.begin(), partners.end(),
      [&](ClientIndex partner) { return arrangement.load(partner).demand > wanted; });
  const auto at = static_cast<std::size_t>(nearest - partners.begin());
  const std::size_t first = at > kPartnersTried / 2 ? at - kPartnersTried / 2 : 0;
  return partners.subspan(first, std::min(kPartnersTried, partners.size() - first));
}

}  // namespace

void consider_load_moves(const Arrangement& arrangement, Reason reason, Considered& considered) {
  Promise promise(arrangement);
  const std::vector<NodeIndex> nodes = nodes_by_owed(arrangement);
  for (const NodeIndex from : nodes) {
    const CpuTime owed = arrangement.node(from).owed();
    if (owed <= CpuTime{}) {
      break;  // by owed share, so no other node owes anything either
    }
    if (owed < least_gain_of(arrangement, arrangement.node(from).capacity())) {
      continue;
    }
    for (const ClientIndex client : arrangement.residents(from)) {
      if (check_client(arrangement, client, reason)) {
        continue;
      }
      for (const NodeIndex to : nodes) {
        if (arrangement.owed_share(to) < arrangement.owed_share(from)) {
          consider(arrangement, promise, reason, std::array{Rehoming{client, to}}, considered);
        }
      }
    }
  }
}

void consider_load_swaps(const Arrangement& arrangement, Considered& considered) {
  Promise promise(arrangement);
  const std::vector<NodeIndex> nodes = nodes_by_owed(arrangement);
  std::vector<std::vector<ClientIndex>> movable(arrangement.snapshot().nodes.size());
  for (const NodeIndex node : nodes) {
    movable[node] = movable_residents(arrangement, node, Reason::kLoadSwap);
  }
  // Demand of a node's clients beyond what it can give; negative if it could give more.
  const auto excess = [&](NodeIndex node) {
    return arrangement.node(node).demand() - arrangement.node(node).capacity();
  };
  for (std::size_t s = 0; s < std::min(nodes.size(), kSourcesTried); ++s) {
    const NodeIndex from = nodes[s];
    if (arrangement.node(from).owed() <= CpuTime{}) {
      break;
    }
    for (const NodeIndex to : nodes) {
      if (arrangement.owed_share(to) >= arrangement.owed_share(from)) {
        continue;
      }
      const bool try_all = movable[from].size() * movable[to].size() <= kAllPairsUpTo;
      for (const ClientIndex client : movable[from]) {
        // Half the difference would even the two out.
        const std::span<const ClientIndex> partners =
            try_all ? std::span<const ClientIndex>(movable[to])
                    : likely_partners(arrangement, client, movable[to],
                                      (excess(from) - excess(to)) / 2);
        for (const ClientIndex partner : partners) {
          if (arrangement.load(partner).demand < arrangement.load(client).demand) {
            const std::array changes{Rehoming{client, to}, Rehoming{partner, from}};
            consider(arrangement, promise, Reason::kLoadSwap, changes, considered);
          }
        }
      }
    }
  }
}

std::vector<Candidate> all_moves_of(const Arrangement& arrangement, ClientIndex client) {
  std::vector<Candidate> candidates;
  const NodeIndex from = arrangement.home(client);
  if (from == kNoNode) {
    return candidates;
  }
  const std::optional<Guard> stays = check_client(arrangement, client, Reason::kLoadMove);
  for (NodeIndex to = 0; to < arrangement.snapshot().nodes.size(); ++to) {
    if (to == from || !arrangement.snapshot().topology.can_be_home(to)) {
      continue;
    }
    const std::array change{Rehoming{client, to}};
    candidates.push_back(judge(arrangement, Reason::kLoadMove, change));
    if (candidates.back().stopped_by && candidates.back().effect.talk > CpuTime{}) {
      candidates.back() = judge(arrangement, Reason::kAffinityMove, change);
    }
    if (stays) {
      candidates.back().stopped_by = stays;
    }
  }
  std::ranges::stable_sort(candidates, std::ranges::greater(), &Candidate::benefit);
  return candidates;
}

}  // namespace vmnuma::balancer
