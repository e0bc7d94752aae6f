// SPDX-License-Identifier: Apache-2.0
/// The contract of the two VM ports, held by the adapter for VMs without libvirt, with real QEMU
/// guests. They are in cgroups of their own where this machine lets a test make some, as systemd
/// makes scopes; else QEMU's program is what tells of their starts.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

#include "balancer/qemu/qemu_hypervisor.h"
#include "placement/model/text.h"
#include "tests/contract/domains_contract.h"
#include "tests/support/plain_qemu.h"
#include "tests/support/wake_up.h"

namespace vmnuma::tests {
namespace {

using balancer::qemu::FoundProcess;
using balancer::qemu::QemuHypervisor;
using balancer::qemu::QemuOptions;

constexpr const char* kQemu = "/usr/bin/qemu-system-x86_64";

/// Others may run QEMU here, too.
bool is_foreign(const FoundProcess& found) {
  return parent_of(found.process.pid) != ::getpid();
}

class PlainQemuHost final : public DomainHost {
 public:
  PlainQemuHost()
      : cgroups_(OwnCgroups::make()),
        qemu_(*QemuHypervisor::open({.root = "/", .is_foreign = is_foreign},
                                    [this] { dirty_.notify(); })) {}

  Result<std::vector<VmDescription>> refresh() override { return qemu_->refresh(); }
  migration::DomainControl& control() override { return qemu_->control(); }

  VmId start(const std::string& name, NumatuneMode numatune) override {
    const VmId id = parse_vm_id(uuid_of(name)).value();
    std::vector<std::string> arguments{kQemu,
                                       "-name",
                                       name + ",debug-threads=on",
                                       "-uuid",
                                       uuid_of(name),
                                       "-smp",
                                       "2",
                                       "-m",
                                       "32",
                                       "-accel",
                                       "tcg,thread=multi",
                                       "-display",
                                       "none",
                                       "-nodefaults",
                                       "-no-user-config",
                                       "-S",
                                       "-object",
                                       "iothread,id=iothread0"};
    if (numatune == NumatuneMode::kStrict) {
      arguments.insert(arguments.end(),
                       {"-object", "memory-backend-ram,id=ram,size=32M,host-nodes=0,policy=bind",
                        "-machine", "memory-backend=ram"});
    }
    const std::string scope = fmt::format("{}-{}.scope", name, ++started_);
    guests_[id] = std::make_unique<PlainProcess>(kQemu, std::move(arguments),
                                                 cgroups_ ? cgroups_->add(scope) : "");
    await(id);
    return id;
  }
  void stop(const VmId& vm) override { guests_.erase(vm); }
  bool wait_for_change() override { return dirty_.wait(std::chrono::seconds(60)); }

  CpuId cpu() const override {
    cpu_set_t set;
    EXPECT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
    int last = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      last = CPU_ISSET(static_cast<std::size_t>(cpu), &set) ? cpu : last;
    }
    return {last};
  }
  NodeId node() const override { return {0}; }
  std::optional<std::string> gap(ContractClaim claim) const override {
    switch (claim) {
      case ContractClaim::kUnknownNodeIsRefused:
      case ContractClaim::kMemoryNodesCanBeSet:
        return "memory nodes are the cgroup's, which belongs to whoever started the VM";
      case ContractClaim::kLostConnectionIsUnavailable:
        return "there is no connection that could be lost";
      case ContractClaim::kVmsHaveDefinitions:
        return "VMs have no definition that could be written to";
      case ContractClaim::kUuidsReturn:
        return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  /// A start is over when the VM runs, which takes QEMU a while.
  void await(const VmId& id) {
    for (;;) {
      const auto running = refresh();
      ASSERT_TRUE(running.has_value()) << running.error().message;
      if (std::any_of(running->begin(), running->end(),
                      [&](const auto& vm) { return vm.id == id; })) {
        return;
      }
      ASSERT_TRUE(wait_for_change()) << "nobody told of the start";
    }
  }

  WakeUp dirty_;
  std::unique_ptr<OwnCgroups> cgroups_;
  std::map<VmId, std::unique_ptr<PlainProcess>> guests_;  // end before their cgroups
  int started_ = 0;
  std::unique_ptr<balancer::Hypervisor> qemu_;
};

std::vector<DomainHostKind> kinds() {
  if (!std::filesystem::exists(kQemu)) {
    std::cerr << "skipped: no " << kQemu << "\n";
    return {};
  }
  return {DomainHostKind{"PlainQemu", std::make_unique<PlainQemuHost>}};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DomainsContract);
INSTANTIATE_TEST_SUITE_P(Hosts, DomainsContract, testing::ValuesIn(kinds()), name_of_kind);

}  // namespace
}  // namespace vmnuma::tests
