// SPDX-License-Identifier: Apache-2.0
/// The contract of the two VM ports, held by the libvirt adapter over a real libvirtd with real
/// QEMU guests.
#include <set>
#include <utility>

#include "balancer/host/event_loop.h"
#include "balancer/host/libvirt_control.h"
#include "balancer/host/libvirt_inventory.h"
#include "tests/contract/domains_contract.h"
#include "tests/integration/libvirt/virsh.h"
#include "tests/support/wake_up.h"

namespace vmnuma::tests {
namespace {

class LibvirtdHost final : public DomainHost {
 public:
  LibvirtdHost() : loop_(std::move(*balancer::EventLoop::start())) {
    inventory_ = std::make_unique<balancer::LibvirtInventory>(
        *loop_, balancer::InventoryOptions{.uri = kUri, .default_huge_page_size = kMiB * 2},
        [this] { dirty_.notify(); });
    control_ = std::make_unique<balancer::LibvirtControl>(*loop_, kUri);
  }
  ~LibvirtdHost() override {
    for (const std::string& name : started_) {
      virsh("destroy " + name);
    }
  }

  stats::DomainInventory& inventory() override { return *inventory_; }
  migration::DomainControl& control() override { return *control_; }

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
  void changed(const VmId& vm) override { inventory_->mark_dirty(vm); }
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
  static constexpr const char* kUri = "qemu:///system";

  WakeUp dirty_;
  std::set<std::string> started_;
  std::unique_ptr<balancer::EventLoop> loop_;
  std::unique_ptr<balancer::LibvirtInventory> inventory_;
  std::unique_ptr<balancer::LibvirtControl> control_;
};

INSTANTIATE_TEST_SUITE_P(Hosts, DomainsContract,
                         testing::Values(DomainHostKind{"Libvirtd",
                                                        std::make_unique<LibvirtdHost>}),
                         name_of_kind);

}  // namespace
}  // namespace vmnuma::tests
