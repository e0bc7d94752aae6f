// SPDX-License-Identifier: Apache-2.0
/// The simulated host keeps the contract of the two VM ports.
#include <memory>

#include "tests/contract/domains_contract.h"
#include "tests/sim/scenarios.h"
#include "tools/sim/host/sim_host.h"

namespace vmnuma::tests {
namespace {

class SimulatedHost final : public DomainHost {
 public:
  Result<std::vector<VmDescription>> refresh() override { return host_.refresh(); }
  migration::DomainControl& control() override { return host_.libvirt(); }

  VmId start(const std::string& name, NumatuneMode numatune) override {
    tools::ScenarioVm vm = tools::busy_vm(name, /*vcpus=*/2, /*pct=*/10);
    vm.numatune = numatune;
    if (numatune != NumatuneMode::kNone) {
      vm.memory_on = {{node(), kGiB}};
    }
    return host_.start(vm);
  }
  void stop(const VmId& vm) override { host_.stop(vm); }
  bool wait_for_change() override { return false; }  // everything shows at once

  CpuId cpu() const override { return {4}; }
  NodeId node() const override { return {1}; }
  std::optional<CpuId> offline_cpu() const override {
    host_.take_cores(node(), 1);
    return CpuId{7};  // that core's
  }
  std::optional<NodeId> other_node() const override { return NodeId{0}; }
  std::optional<std::string> gap(ContractClaim claim) const override {
    switch (claim) {
      case ContractClaim::kLostConnectionIsUnavailable:
        return "the simulated libvirt is never lost";
      case ContractClaim::kVmsHaveDefinitions:
        return "simulated VMs are transient";
      case ContractClaim::kUuidsReturn:
        return "every simulated VM has a UUID of its own";
      default:
        return std::nullopt;
    }
  }

 private:
  Microseconds clock_;
  mutable tools::SimHost host_{tools::small_host(2), /*seed=*/1, /*prefer_ht=*/false, clock_};
};

INSTANTIATE_TEST_SUITE_P(Simulated, DomainsContract,
                         testing::Values(DomainHostKind{
                             "SimHost", [] { return std::make_unique<SimulatedHost>(); }}),
                         name_of_kind);

}  // namespace
}  // namespace vmnuma::tests
