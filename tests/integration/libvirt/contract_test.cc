// SPDX-License-Identifier: Apache-2.0
/// The contract of sources of VMs, held by the libvirt adapter over a real libvirtd with real
/// QEMU guests.
#include <set>
#include <utility>

#include "balancer/host/event_loop.h"
#include "balancer/host/libvirt_hypervisor.h"
#include "tests/contract/domains_contract.h"
#include "tests/integration/libvirt/virsh.h"
#include "tests/support/wake_up.h"

namespace vmnuma::tests {
namespace {

class LibvirtdHost final : public DomainHost {
 public:
  LibvirtdHost()
      : libvirt_(std::move(*balancer::EventLoop::start()),
                 {.uri = "qemu:///system", .default_huge_page_size = kMiB * 2},
                 [this] { dirty_.notify(); }) {}
  ~LibvirtdHost() override {
    for (const std::string& name : started_) {
      virsh("destroy " + name);
    }
  }

  Result<std::vector<VmDescription>> refresh() override { return libvirt_.refresh(); }
  migration::DomainControl& control() override { return libvirt_.control(); }

  VmId start(const std::string& name, NumatuneMode numatune) override {
    started_.insert(name);
    return start_guest(name, "<uuid>" + uuid_of(name) + "</uuid>" +
                                 (numatune == NumatuneMode::kStrict
                                      ? "<numatune><memory mode='strict' nodeset='0'/></numatune>"
                                      : ""));
  }
  void stop(const VmId& vm) override {
    for (const std::string& name : started_) {
      if (id_of(name) == vm) {
        virsh("destroy " + name);
        started_.erase(name);
        return;
      }
    }
  }
  /// libvirt has an event for pins and none for a nodeset.
  void changed(const VmId& vm) override { libvirt_.mark_dirty(vm); }
  bool wait_for_change() override { return dirty_.wait(std::chrono::seconds(60)); }

  void lose_connection() override {
    stop_libvirtd();
    EXPECT_TRUE(wait_for_change()) << "nobody said that the connection is lost";
  }
  void restore_connection() override { start_libvirtd(); }

  CpuId cpu() const override { return host_cpus().back(); }
  NodeId node() const override { return {0}; }
  std::optional<std::string> gap(ContractClaim claim) const override {
    if (claim == ContractClaim::kVmsHaveDefinitions) {
      return "tested with libvirt's test driver, whose code for metadata is that of QEMU's";
    }
    return std::nullopt;
  }

 private:
  WakeUp dirty_;
  std::set<std::string> started_;
  balancer::LibvirtHypervisor libvirt_;
};

INSTANTIATE_TEST_SUITE_P(Hosts, DomainsContract,
                         testing::Values(DomainHostKind{"Libvirtd",
                                                        std::make_unique<LibvirtdHost>}),
                         name_of_kind);

}  // namespace
}  // namespace vmnuma::tests
