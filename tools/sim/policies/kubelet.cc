// SPDX-License-Identifier: Apache-2.0
/// Kubernetes' kubelet with the static policies of its CPU, memory and topology managers.
///
/// Documented (Kubernetes: "Control CPU Management Policies on the Node", "Control Topology
/// Management Policies on a Node"): a pod with whole CPUs gets CPUs of its own when it is admitted;
/// the topology manager (best-effort) prefers the fewest nodes on which CPUs and memory are left,
/// and among equal sets the lowest numbers. Nothing changes while the pod runs. Pods without CPUs
/// of their own share the remaining CPUs. VMs begin unplaced (policy.h). A VM for which no CPUs are
/// left would not be admitted; here it shares the remaining CPUs, or all if none are left. Left
/// out: which CPUs of a node a pod gets.
#include <algorithm>
#include <map>
#include <vector>

#include "tools/sim/policies/policy.h"

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

class KubeletPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override {
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

 private:
  using Share = std::vector<std::int32_t>;  ///< CPUs per node

  Share choose(const PolicyHost& host, const PolicyVm& vm, const Share& left) const {
    for (const std::vector<NodeIndex>& set : sets_of(host.topology().homes())) {
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

  std::map<VmId, Share> given_;
};

}  // namespace

std::unique_ptr<Policy> make_kubelet_policy() {
  return std::make_unique<KubeletPolicy>();
}

}  // namespace vmnuma::tools
