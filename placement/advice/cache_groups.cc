// SPDX-License-Identifier: Apache-2.0
#include "placement/advice/cache_groups.h"

#include <algorithm>
#include <map>
#include <set>

namespace vmnuma {
namespace {

/// Returns how many CPUs of the node share each of its last-level caches.
std::map<std::int32_t, std::size_t> cpus_of_caches(const Node& node) {
  std::map<std::int32_t, std::size_t> cpus;
  for (const Cpu& cpu : node.cpus) {
    ++cpus[cpu.last_level_cache];
  }
  return cpus;
}

std::map<CpuId, std::int32_t> cache_of_each_cpu(const Topology& topology) {
  std::map<CpuId, std::int32_t> caches;
  for (const Node& node : topology.nodes) {
    for (const Cpu& cpu : node.cpus) {
      caches[cpu.id] = cpu.last_level_cache;
    }
  }
  return caches;
}

/// Returns the cache of each vCPU according to its pins; nothing if that of any vCPU is not
/// certain.
std::optional<std::vector<std::int32_t>> caches_of_pins(const VmDescription& vm,
                                                        const Topology& topology) {
  const std::map<CpuId, std::int32_t> known = cache_of_each_cpu(topology);
  std::vector<std::int32_t> caches;
  for (std::int32_t vcpu = 0; vcpu < vm.max_vcpus; ++vcpu) {
    std::vector<CpuId> cpus = pinned_cpus(vm.vcpu_pins, vcpu);
    if (cpus.empty()) {
      cpus = vm.default_pin;
    }
    std::set<std::int32_t> here;
    for (const CpuId cpu : cpus) {
      if (const auto found = known.find(cpu); found != known.end()) {
        here.insert(found->second);
      }
    }
    if (here.size() != 1) {
      return std::nullopt;
    }
    caches.push_back(*here.begin());
  }
  return caches;
}

/// Returns how many consecutive vCPUs share a cache, if it is the same number for each cache; else
/// nothing.
std::optional<std::int32_t> size_of_groups(const std::vector<std::int32_t>& caches) {
  std::set<std::int32_t> seen;
  std::size_t size = 0;
  for (auto begin = caches.begin(); begin != caches.end();) {
    const auto end =
        std::find_if(begin, caches.end(), [&](std::int32_t cache) { return cache != *begin; });
    const auto length = static_cast<std::size_t>(end - begin);
    if (!seen.insert(*begin).second || (size != 0 && size != length)) {
      return std::nullopt;
    }
    size = length;
    begin = end;
  }
  return static_cast<std::int32_t>(size);
}

}  // namespace

std::optional<std::int32_t> dies_of_caches(const VmDescription& vm, const Topology& topology,
                                           const std::vector<NodeIndex>& homes,
                                           std::size_t largest_cell, std::int32_t cores,
                                           std::int32_t threads) {
  std::size_t most_caches = 0;
  std::size_t fewest_cpus = largest_cell;
  for (const NodeIndex home : homes) {
    const auto caches = cpus_of_caches(topology.nodes[home]);
    most_caches = std::max(most_caches, caches.size());
    for (const auto& [cache, cpus] : caches) {
      fewest_cpus = std::min(fewest_cpus, cpus);
    }
  }
  // placement/cpu_assignment.h, property 6.
  const bool is_confined = vm.policy.cpu_binding == CpuBinding::kShare;
  if (most_caches <= 1 || (is_confined && fewest_cpus >= largest_cell)) {
    return 1;
  }
  const auto caches = caches_of_pins(vm, topology);
  const auto group = caches ? size_of_groups(*caches) : std::nullopt;
  const std::int32_t socket = cores * threads;
  if (group && *group % socket == 0) {
    return 1;
  }
  if (group && *group > threads && *group % threads == 0 && socket % *group == 0) {
    return socket / *group;
  }
  return std::nullopt;
}

}  // namespace vmnuma
