// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/policies/policy.h"

#include <algorithm>

namespace vmnuma::tools {

namespace {

/// Leaves the host alone: VMs float as the kernel's scheduler places them, without automatic NUMA
/// balancing. VMs that are found pinned stay pinned.
class NonePolicy final : public Policy {
 public:
  void epoch(PolicyHost& /*host*/) override {}
};

/// The kernel's automatic NUMA balancing, without pins.
///
/// The balancing itself is part of the simulated host (host/sim_numa_scanner.h describes which
/// parts of Linux 6.1 it covers, and its cost). VMs begin unplaced (policy.h). This policy only
/// enables it.
class KernelPolicy final : public Policy {
 public:
  void epoch(PolicyHost& host) override {
    for (PolicyVm& vm : host.vms()) {
      if (vm.age == 0) {
        host.start_unplaced(vm);
        host.balance_by_kernel(vm);
      }
    }
  }
};

template <class P>
std::unique_ptr<Policy> make() {
  return std::make_unique<P>();
}

/// In the order of kPeers.
constexpr std::array<std::unique_ptr<Policy> (*)(), kPeers.size()> kMake{
    make<NonePolicy>, make<KernelPolicy>, make_numad_policy, make_kubelet_policy, make_esxi_policy};

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view name) {
  const auto peer = static_cast<std::size_t>(std::ranges::find(kPeers, name) - kPeers.begin());
  return peer < kMake.size() ? kMake[peer]() : nullptr;
}

}  // namespace vmnuma::tools
