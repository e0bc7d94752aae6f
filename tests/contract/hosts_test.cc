// SPDX-License-Identifier: Apache-2.0
/// Tests that the fake fulfils the contract, and the libvirt adapter with libvirt's test driver,
/// which needs no daemon.
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <libvirt/libvirt.h>

#include "balancer/host/domain_xml.h"
#include "balancer/host/event_loop.h"
#include "balancer/host/handles.h"
#include "balancer/host/libvirt_hypervisor.h"
#include "tests/contract/domains_contract.h"
#include "tests/support/fake_domains.h"
#include "tests/support/wake_up.h"

namespace vmnuma::tests {
namespace {

class FakeHost final : public DomainHost {
 public:
  Result<std::vector<VmDescription>> refresh() override { return domains_.refresh(); }
  migration::DomainControl& control() override { return domains_; }

  VmId start(const std::string& name, NumatuneMode numatune) override {
    VmDescription vm;
    vm.id.uuid[15] = static_cast<std::uint8_t>(name.back());
    vm.name = name;
    vm.domain_id = ++started_;
    vm.vcpus = {0, 1};
    vm.max_vcpus = 2;
    vm.io_threads = {1};
    vm.numatune = numatune;
    if (numatune != NumatuneMode::kNone) {
      vm.numatune_nodes = {node()};
    }
    domains_.start(vm);
    return vm.id;
  }
  void stop(const VmId& vm) override { domains_.stop(vm); }
  void define(const VmId& vm) override { domains_.define(vm); }
  std::vector<PolicySetting> defined_policy(const VmId& vm) override {
    return domains_.defined_policy(vm);
  }
  bool wait_for_change() override { return false; }  // every change is visible immediately

  void lose_connection() override {
    domains_.fail_with(Error{ErrorCode::kUnavailable, 0, "no connection"});
  }
  void restore_connection() override { domains_.fail_with(std::nullopt); }

  CpuId cpu() const override { return {4}; }
  NodeId node() const override { return {1}; }
  std::optional<CpuId> offline_cpu() const override { return CpuId{2}; }
  std::optional<NodeId> other_node() const override { return NodeId{0}; }
  std::optional<std::string> gap(ContractClaim) const override { return std::nullopt; }

 private:
  std::int32_t started_ = 0;
  FakeDomains domains_{{CpuId{0}, CpuId{4}}, {NodeId{0}, NodeId{1}}, {CpuId{2}}};
};

/// libvirt's test driver: all connections of one process to test:///default see the same VMs, as
/// long as one of them is open. It reports that CPUs 0, 2 and 4 of 8 are online. It lacks an event
/// for pins and numatune, any check of node numbers, and a peer that a connection could lose.
class TestDriverHost final : public DomainHost {
 public:
  TestDriverHost()
      : libvirt_(std::move(*balancer::EventLoop::start()),
                 {.uri = kUri, .default_huge_page_size = kMiB * 2}, [this] { dirty_.notify(); }) {
    administrator_.reset(virConnectOpen(kUri));
  }

  Result<std::vector<VmDescription>> refresh() override { return libvirt_.refresh(); }
  migration::DomainControl& control() override { return libvirt_.control(); }

  VmId start(const std::string& name, NumatuneMode numatune) override {
    const std::string xml = fmt::format(
        "<domain type='test'><name>{0}</name><uuid>{1}</uuid><memory>65536</memory><vcpu>2</vcpu>"
        "<iothreads>1</iothreads>{2}<os><type>hvm</type></os></domain>",
        name, uuid_of(name),
        numatune == NumatuneMode::kStrict
            ? "<numatune><memory mode='strict' nodeset='1'/></numatune>"
            : "");
    const balancer::DomainHandle domain(
        virDomainCreateXML(administrator_.get(), xml.c_str(), /*flags=*/0));
    EXPECT_NE(domain, nullptr);
    VmId id;
    EXPECT_EQ(virDomainGetUUID(domain.get(), id.uuid.data()), 0);
    return id;
  }
  void stop(const VmId& vm) override {
    const balancer::DomainHandle domain(
        virDomainLookupByUUID(administrator_.get(), vm.uuid.data()));
    EXPECT_EQ(virDomainDestroy(domain.get()), 0);
  }
  void define(const VmId& vm) override {
    const balancer::DomainHandle domain = find(vm);
    const std::string xml = xml_of(domain, /*flags=*/0);
    EXPECT_NE(balancer::DomainHandle(virDomainDefineXML(administrator_.get(), xml.c_str())),
              nullptr);
  }
  std::vector<PolicySetting> defined_policy(const VmId& vm) override {
    const auto defined = balancer::parse_domain_xml(xml_of(find(vm), VIR_DOMAIN_XML_INACTIVE),
                                                    /*default_huge_page_size=*/{});
    return defined ? defined->own_policy : std::vector<PolicySetting>{{"unreadable", ""}};
  }
  void changed(const VmId& vm) override { libvirt_.mark_dirty(vm); }
  bool wait_for_change() override { return dirty_.wait(std::chrono::seconds(30)); }

  CpuId cpu() const override { return {4}; }
  NodeId node() const override { return {1}; }
  std::optional<CpuId> offline_cpu() const override { return CpuId{1}; }
  std::optional<NodeId> other_node() const override { return NodeId{0}; }
  std::optional<std::string> gap(ContractClaim claim) const override {
    switch (claim) {
      case ContractClaim::kUnknownNodeIsRefused:
        return "libvirt's test driver accepts any node number";
      case ContractClaim::kLostConnectionIsUnavailable:
        return "libvirt's test driver lives in this process and cannot be lost";
      case ContractClaim::kVmsHaveDefinitions:
      case ContractClaim::kMemoryNodesCanBeSet:
      case ContractClaim::kUuidsReturn:
        return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  static constexpr const char* kUri = "test:///default";

  [[nodiscard]] balancer::DomainHandle find(const VmId& vm) const {
    return balancer::DomainHandle(virDomainLookupByUUID(administrator_.get(), vm.uuid.data()));
  }
  static std::string xml_of(const balancer::DomainHandle& domain, unsigned int flags) {
    char* text = virDomainGetXMLDesc(domain.get(), flags);
    EXPECT_NE(text, nullptr);
    std::string xml = text == nullptr ? "" : text;
    std::free(text);
    return xml;
  }

  WakeUp dirty_;
  balancer::LibvirtHypervisor libvirt_;
  balancer::ConnectionHandle administrator_;
};

INSTANTIATE_TEST_SUITE_P(Hosts, DomainsContract,
                         testing::Values(DomainHostKind{"FakeDomains", std::make_unique<FakeHost>},
                                         DomainHostKind{"LibvirtTestDriver",
                                                        std::make_unique<TestDriverHost>}),
                         name_of_kind);

}  // namespace
}  // namespace vmnuma::tests
