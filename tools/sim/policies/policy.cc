// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/policies/policy.h"

#include "tools/sim/policies/esxi_defaults.h"
#include "tools/sim/policies/kubelet.h"
#include "tools/sim/policies/numad.h"

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

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view name) {
  if (name == "none") {
    return std::make_unique<NonePolicy>();
  }
  if (name == "kernel") {
    return std::make_unique<KernelPolicy>();
  }
  if (name == "numad") {
    return std::make_unique<NumadPolicy>();
  }
  if (name == "kubelet") {
    return std::make_unique<KubeletPolicy>();
  }
  if (name == "esxi-defaults") {
    return std::make_unique<EsxiPolicy>();
  }
  return nullptr;
}

}  // namespace vmnuma::tools
