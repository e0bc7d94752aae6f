// SPDX-License-Identifier: Apache-2.0
#include "placement/advice/common_host.h"

#include <algorithm>
#include <limits>
#include <map>

#include "placement/base/sorted.h"

namespace vmnuma {
namespace {

/// What every home of every host has at least.
struct Least {
  std::size_t nodes = std::numeric_limits<std::size_t>::max();
  std::int32_t cores = std::numeric_limits<std::int32_t>::max();
  std::int32_t threads = std::numeric_limits<std::int32_t>::max();
  std::int32_t cores_per_cache = std::numeric_limits<std::int32_t>::max();
  Bytes memory{std::numeric_limits<std::int64_t>::max()};
  Bytes free{std::numeric_limits<std::int64_t>::max()};
  std::int32_t distance = kLocalDistance;
};

/// The fewest pages of each size; a size that one of the nodes lacks is left out.
class FewestPages {
 public:
  void add(const std::vector<HugePagePool>& pools) {
    std::map<Bytes, std::int64_t> here;
    for (const HugePagePool& pool : pools) {
      const auto before = fewest_.find(pool.page_size);
      if (is_first_ || before != fewest_.end()) {
        here[pool.page_size] = is_first_ ? pool.pages : std::min(before->second, pool.pages);
      }
    }
    is_first_ = false;
    fewest_ = std::move(here);
  }
  [[nodiscard]] std::vector<HugePagePool> pools() const {
    std::vector<HugePagePool> all;
    for (const auto& [size, pages] : fewest_) {
      all.push_back({size, pages});
    }
    return all;
  }

 private:
  bool is_first_ = true;
  std::map<Bytes, std::int64_t> fewest_;
};

/// Returns the fewest cores that share one last-level cache of the node.
std::int32_t least_cores_per_cache(const Node& node) {
  std::map<std::int32_t, std::vector<std::int32_t>> cores;
  for (const Cpu& cpu : node.cpus) {
    cores[cpu.last_level_cache].push_back(cpu.core);
  }
  std::size_t least = std::numeric_limits<std::int32_t>::max();
  for (auto& [cache, below] : cores) {
    least = std::min(least, sorted_unique(std::move(below)).size());
  }
  return static_cast<std::int32_t>(least);
}

}  // namespace

AdviceHost common_host(const std::vector<AdviceHost>& hosts) {
  Least least;
  FewestPages pages;
  FewestPages free_pages;
  AdviceHost common;
  bool knows_free = true;
  bool knows_free_pages = true;
  common.prefer_ht = true;
  for (const AdviceHost& host : hosts) {
    const Topology& topology = host.topology;
    const std::vector<NodeIndex> homes = topology.homes();
    least.nodes = std::min(least.nodes, homes.size());
    common.prefer_ht = common.prefer_ht && host.prefer_ht;
    knows_free = knows_free && !host.free.empty();
    knows_free_pages = knows_free_pages && !host.free_huge_pages.empty();
    for (const NodeIndex home : homes) {
      const Node& node = topology.nodes[home];
      least.cores = std::min(least.cores, node.core_count());
      least.threads = std::min(least.threads, node.cpu_count() / node.core_count());
      least.cores_per_cache = std::min(least.cores_per_cache, least_cores_per_cache(node));
      least.memory = std::min(least.memory, node.memory);
      pages.add(node.huge_pages);
      if (!host.free.empty()) {
        least.free = std::min(least.free, host.free[home]);
      }
      if (!host.free_huge_pages.empty()) {
        free_pages.add(host.free_huge_pages[home]);
      }
      for (const NodeIndex other : homes) {
        least.distance = std::max(least.distance, topology.distance(home, other));
      }
    }
  }
  if (hosts.empty() || least.nodes == 0) {
    return {};
  }
  for (NodeIndex i = 0; i < least.nodes; ++i) {
    Node node;
    node.id = NodeId{static_cast<std::int32_t>(i)};
    node.memory = least.memory;
    node.package = node.id.value;
    node.huge_pages = pages.pools();
    const std::int32_t cpus = least.cores * least.threads;
    for (std::int32_t cpu = 0; cpu < cpus; ++cpu) {
      const std::int32_t core = cpu / least.threads;
      const std::int32_t first = node.id.value * cpus;
      node.cpus.push_back(
          {CpuId{first + cpu}, first + core * least.threads,
           first + core / least.cores_per_cache * least.cores_per_cache * least.threads});
    }
    common.topology.nodes.push_back(std::move(node));
    for (NodeIndex j = 0; j < least.nodes; ++j) {
      common.topology.distances.push_back(i == j ? kLocalDistance : least.distance);
    }
    if (knows_free) {
      common.free.push_back(least.free);
    }
    if (knows_free_pages) {
      common.free_huge_pages.push_back(free_pages.pools());
    }
  }
  return common;
}

}  // namespace vmnuma
