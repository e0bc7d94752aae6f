// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/memory_pool.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vmnuma::balancer {

namespace {

bool has_room(const MemoryPool& pool, const Arrangement& now, const Arrangement& then,
              std::span<const Rehoming> changes) {
  std::vector<Bytes> free = pool.free;
  std::vector<NodeIndex> targets;
  for (ClientIndex client = 0; client < now.snapshot().clients.size(); ++client) {
    if (!pool.is_of(now.snapshot(), client)) {
      continue;
    }
    const auto change = std::ranges::find(changes, client, &Rehoming::client);
    const NodeIndex home = change == changes.end() ? then.home(client) : change->to;
    const MemoryProfile& memory = now.memory(client);
    if (home != now.home(client) && home != kNoNode && memory.can_follow) {
      for (const MemoryProfile::Part& part : memory.parts) {
        free[part.node] += part.bytes;
      }
      free[home] -= memory.resident;
    }
    if (change != changes.end()) {
      targets.push_back(home);
    }
  }
  return std::ranges::all_of(targets, [&](NodeIndex node) { return free[node] >= Bytes{}; });
}

}  // namespace

std::vector<MemoryPool> memory_pools(const Snapshot& snapshot) {
  const MemoryRoom room(snapshot);
  std::map<Bytes, MemoryPool> pools;
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    pools[Bytes{}].free.push_back(room.ordinary(node));
  }
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    MemoryPool& pool = pools[page_size_of(snapshot, snapshot.clients[client])];
    for (NodeIndex node = pool.free.size(); node < snapshot.nodes.size(); ++node) {
      pool.free.push_back(std::max(room.of(client, node), Bytes{}));
    }
  }
  std::vector<MemoryPool> all;
  all.reserve(pools.size());
  for (auto& [page_size, pool] : pools) {
    pool.page_size = page_size;
    all.push_back(std::move(pool));
  }
  return all;
}

bool have_room(const std::vector<MemoryPool>& pools, const Arrangement& now,
               const Arrangement& then, std::span<const Rehoming> changes) {
  return std::ranges::all_of(
      pools, [&](const MemoryPool& pool) { return has_room(pool, now, then, changes); });
}

}  // namespace vmnuma::balancer
