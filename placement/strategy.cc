// SPDX-License-Identifier: Apache-2.0
#include "placement/strategy.h"

#include <algorithm>

#include "placement/exclusive_cores.h"

namespace vmnuma {
namespace {

/// CPUs that the client takes on that node.
std::int64_t taken_by(const Arrangement& arrangement, ClientIndex client, NodeIndex node) {
  const std::int64_t cores = exclusive_cores(arrangement, client, node);
  if (cores == 0) {
    return arrangement.snapshot().clients[client].vcpu_count();
  }
  const Node& where = arrangement.snapshot().topology.nodes[node];
  return cores * where.cpu_count() / where.core_count();
}

std::int64_t own_clients(const Arrangement& arrangement, ClientIndex client, NodeIndex node) {
  const auto& clients = arrangement.snapshot().clients;
  return std::ranges::count_if(arrangement.residents(node), [&](ClientIndex other) {
    return other != client && clients[other].vm == clients[client].vm;
  });
}

}  // namespace

std::int64_t allocated_cpus(const Arrangement& arrangement, NodeIndex node, ClientIndex except) {
  return sum_of(arrangement.residents(node), [&](ClientIndex client) {
    return client == except ? 0 : taken_by(arrangement, client, node);
  });
}

StrategyRank& StrategyRank::operator+=(const StrategyRank& other) {
  lacks_cpus += other.lacks_cpus;
  own_clients += other.own_clients;
  allocated_permille += other.allocated_permille;
  return *this;
}

StrategyRank strategy_rank(const Arrangement& arrangement, ClientIndex client, NodeIndex node) {
  const Snapshot& snapshot = arrangement.snapshot();
  const PlacementStrategy strategy = snapshot.vms[snapshot.clients[client].vm].policy.strategy;
  if (strategy == PlacementStrategy::kHost || strategy == PlacementStrategy::kLeastLostTime) {
    return {};
  }
  const std::int64_t cpus = snapshot.topology.nodes[node].cpu_count();
  const std::int64_t allocated = allocated_cpus(arrangement, node, client);
  if (allocated + taken_by(arrangement, client, node) > cpus) {
    return {.lacks_cpus = 1};
  }
  const std::int64_t share = permille_of(allocated, cpus, Permille{1000}).value;
  const bool packs = strategy == PlacementStrategy::kMostAllocated;
  return {.own_clients = strategy == PlacementStrategy::kLeastAllocated
                             ? 0
                             : own_clients(arrangement, client, node),
          .allocated_permille = packs ? -share : share};
}

}  // namespace vmnuma
