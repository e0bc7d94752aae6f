// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/policies/kubelet.h"

#include <algorithm>

namespace vmnuma::tools {

namespace {

/// Returns sets of nodes by size, then by number: the order in which the topology manager tries its
/// bit masks.
std::vector<std::vector<NodeIndex>> sets_of(const std::vector<NodeIndex>& nodes) {
  constexpr std::size_t kMostNodes = 8;  // the topology manager refuses larger hosts
  const std::size_t count = std::min(nodes.size(), kMostNodes);
  std::vector<std::vector<NodeIndex>> sets;
  for (std::size_t mask = 1; mask < (std::size_t{1} << count); ++mask) {
    std::vector<NodeIndex> set;
    for (std::size_t i = 0; i < count; ++i) {
      if ((mask >> i & 1U) != 0) {
        set.push_back(nodes[i]);
      }
    }
    sets.push_back(std::move(set));
  }
  std::ranges::stable_sort(sets, {}, [](const auto& set) { return set.size(); });
  return sets;
}

}  // namespace

KubeletPolicy::Share KubeletPolicy::choose(const PolicyHost& host, const PolicyVm& vm,
                                           const Share& left) const {
  for (const std::vector<NodeIndex>& set : sets_of(host.homes())) {
    std::int32_t cpus = 0;
    Bytes memory;
    for (const NodeIndex node : set) {
      cpus += left[node];
      memory += host.free(node) + vm.memory[node];
    }
    if (cpus < vm.vcpus || memory < vm.size) {
      continue;
    }
    Share share(left.size());
    std::int32_t wanted = vm.vcpus;
    for (const NodeIndex node : set) {
      share[node] = std::min(wanted, left[node]);
      wanted -= share[node];
    }
    return share;
  }
  return Share(left.size());
}

void KubeletPolicy::epoch(PolicyHost& host) {
  std::erase_if(given_, [&](const auto& entry) { return host.vm(entry.first) == nullptr; });
  Share left;
  for (const Node& node : host.topology().nodes) {
    left.push_back(node.cpu_count());
  }
  for (const auto& [vm, share] : given_) {
    for (NodeIndex node = 0; node < left.size(); ++node) {
      left[node] = std::max(left[node] - share[node], 0);
    }
  }
  for (PolicyVm& vm : host.vms()) {
    if (vm.age > 0) {
      continue;
    }
    const Share share = choose(host, vm, left);
    std::vector<NodeIndex> shared;
    host.start_unplaced(vm);
    std::int32_t next = 0;
    for (NodeIndex node = 0; node < left.size(); ++node) {
      if (share[node] > 0) {
        host.start_pinned(vm, next, share[node], node);
        next += share[node];
        left[node] -= share[node];
      }
      if (left[node] > 0) {
        shared.push_back(node);
      }
    }
    if (next == 0) {
      host.start_pinned(vm, shared);
    }
    given_[vm.id] = share;
  }
}

}  // namespace vmnuma::tools
