// SPDX-License-Identifier: Apache-2.0
#include "balancer/optimal/repack.h"

#include <algorithm>
#include <utility>

#include "balancer/optimal/rest.h"
#include "placement/memory_room.h"

namespace vmnuma::balancer {

using placement::Arrangement;
using placement::Options;
using placement::Snapshot;

Repack plan_repack(const Snapshot& snapshot, const Options& options,
                   const Circumstances& circumstances, const std::vector<MemoryPool>& huge_pages,
                   const SearchLimits& limits, const std::function<double()>& clock) {
  const double begin = clock();
  const Arrangement now(snapshot, options, Arrangement::Basis::kDemand);
  Repack repack;
  for (const placement::ClientState& client : snapshot.clients) {
    repack.demand += client.demand;
  }
  repack.present = assess(now, homes_of(now));
  Homes rest = homes_at_rest(snapshot, options, circumstances);
  for (placement::ClientIndex client = 0; client < rest.size(); ++client) {
    if (now.home(client) == placement::kNoNode) {
      rest[client] = placement::kNoNode;  // placing is not moving
    }
  }
  repack.planner = assess(now, rest);
  Optimum optimum =
      find_optimum(now, huge_pages, rest, {limits.seconds - (clock() - begin), limits.gap}, clock);
  repack.best = std::move(optimum.best);
  repack.bound = optimum.bound;
  repack.rounds = optimum.rounds;
  repack.trouble = std::move(optimum.trouble);
  repack.sequence = in_order(now, repack.best.homes, huge_pages);
  return repack;
}

Repack plan_without_solver(const Snapshot& snapshot, const Options& options,
                           const Circumstances& circumstances,
                           const std::vector<MemoryPool>& huge_pages, std::string trouble) {
  Repack repack =
      plan_repack(snapshot, options, circumstances, huge_pages, {.seconds = 0}, [] { return 0.0; });
  repack.trouble = std::move(trouble);
  return repack;
}

std::vector<MemoryPool> huge_page_pools(
    const Snapshot& snapshot, const std::map<placement::VmId, placement::Bytes>& page_sizes) {
  std::map<placement::Bytes, MemoryPool> pools;
  for (const auto& [vm, page_size] : page_sizes) {
    if (page_size > placement::Bytes{}) {
      pools[page_size].vms.push_back(vm);
    }
  }
  std::vector<MemoryPool> all;
  for (auto& [page_size, pool] : pools) {
    for (placement::NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      placement::Bytes free;
      for (const placement::HugePagePool& pages : snapshot.topology.nodes[node].huge_pages) {
        free += pages.page_size == page_size ? page_size * pages.pages : placement::Bytes{};
      }
      for (const placement::ClientState& client : snapshot.clients) {
        if (std::binary_search(pool.vms.begin(), pool.vms.end(), client.id.vm)) {
          free -= memory_by_node(snapshot, client)[node];
        }
      }
      pool.free.push_back(std::max(free, placement::Bytes{}));
    }
    all.push_back(std::move(pool));
  }
  return all;
}

}  // namespace vmnuma::balancer
