// SPDX-License-Identifier: Apache-2.0
#include "placement/advice/near_nodes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace vmnuma {
namespace {

constexpr std::int32_t kFarthest = 254;

/// The cost of a set of nodes, or of adding one to it: how many lack room, how many are not wanted,
/// how far they are from each other. Less is better.
using Cost = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

class Growth {
 public:
  Growth(const AdviceHost& host, const std::vector<NodeIndex>& homes,
         const std::vector<NodeIndex>& wanted, Bytes each)
      : host_(host), homes_(homes), wanted_(wanted), each_(each) {}

  /// The set that grows from `start`, with its cost.
  [[nodiscard]] std::pair<Cost, std::vector<NodeIndex>> from(NodeIndex start,
                                                             std::size_t count) const {
    // How far each home is from the set so far, both ways.
    std::vector<std::int64_t> away(homes_.size());
    std::vector<bool> taken(homes_.size());
    std::vector<NodeIndex> set;
    Cost all;
    const auto cost_of = [&](std::size_t i) {
      return Cost{has_room(homes_[i]) ? 0 : 1, is_wanted(homes_[i]) ? 0 : 1, away[i]};
    };
    const auto take = [&](std::size_t i) {
      const auto [no_room, unwanted, distance] = cost_of(i);
      all = {std::get<0>(all) + no_room, std::get<1>(all) + unwanted, std::get<2>(all) + distance};
      taken[i] = true;
      set.push_back(homes_[i]);
      for (std::size_t j = 0; j < homes_.size(); ++j) {
        away[j] += host_.topology.distance(homes_[i], homes_[j]) +
                   host_.topology.distance(homes_[j], homes_[i]);
      }
    };
    take(static_cast<std::size_t>(std::ranges::find(homes_, start) - homes_.begin()));
    while (set.size() < count) {
      std::size_t best = homes_.size();
      Cost least;
      for (std::size_t i = 0; i < homes_.size(); ++i) {
        if (!taken[i] && (best == homes_.size() || cost_of(i) < least)) {
          best = i;
          least = cost_of(i);
        }
      }
      take(best);
    }
    std::ranges::sort(set);
    return {all, std::move(set)};
  }

 private:
  [[nodiscard]] bool is_wanted(NodeIndex node) const {
    return std::ranges::find(wanted_, node) != wanted_.end();
  }
  [[nodiscard]] bool has_room(NodeIndex node) const {
    return (host_.free.empty() ? host_.topology.nodes[node].memory : host_.free[node]) >= each_;
  }

  const AdviceHost& host_;
  const std::vector<NodeIndex>& homes_;
  const std::vector<NodeIndex>& wanted_;
  Bytes each_;
};

}  // namespace

std::vector<NodeIndex> near_nodes(const AdviceHost& host, const std::vector<NodeIndex>& homes,
                                  const std::vector<NodeIndex>& wanted, std::size_t count,
                                  Bytes each) {
  if (count >= homes.size()) {
    return homes;
  }
  const Growth growth(host, homes, wanted, each);
  auto best = growth.from(homes.front(), count);
  for (const NodeIndex start : homes) {
    if (auto grown = growth.from(start, count); grown.first < best.first) {
      best = std::move(grown);
    }
  }
  return best.second;
}

std::vector<std::int32_t> distances_between(const Topology& topology,
                                            const std::vector<NodeIndex>& nodes) {
  std::vector<std::int32_t> distances;
  for (std::size_t from = 0; from < nodes.size(); ++from) {
    for (std::size_t to = 0; to < nodes.size(); ++to) {
      distances.push_back(from == to ? kLocalDistance
                                     : std::clamp(topology.distance(nodes[from], nodes[to]),
                                                  kLocalDistance + 1, kFarthest));
    }
  }
  return distances;
}

}  // namespace vmnuma
