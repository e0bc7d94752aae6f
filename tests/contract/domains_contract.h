// SPDX-License-Identifier: Apache-2.0
/// What every source of VMs must do: Hypervisor::refresh() and migration::DomainControl.
///
/// An implementation gives the suite a DomainHost and instantiates it:
///   INSTANTIATE_TEST_SUITE_P(Fakes, DomainsContract,
///                            testing::Values(DomainHostKind{"FakeDomains",
///                            std::make_unique<FakeHost>}), name_of_kind);
/// For claims that it cannot fulfil, gap() returns the reason, which the skipped test prints.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "migration/domain_control.h"
#include "placement/model/domain.h"

namespace vmnuma::tests {

/// Claims that cannot be tested with every implementation.
enum class ContractClaim {
  kUnknownNodeIsRefused,
  kLostConnectionIsUnavailable,
  kVmsHaveDefinitions,
  kMemoryNodesCanBeSet,
  kUuidsReturn,  ///< a VM that is started again under the same name has the same UUID
};

/// One host with the source under test.
class DomainHost {
 public:
  virtual ~DomainHost() = default;

  virtual Result<std::vector<VmDescription>> refresh() = 0;
  virtual migration::DomainControl& control() = 0;

  /// Starts a VM with two unpinned vCPUs and I/O thread 1, and a UUID derived from its name;
  /// numatune is kNone, or kStrict on `node()`.
  virtual VmId start(const std::string& name, NumatuneMode numatune) = 0;
  virtual void stop(const VmId& vm) = 0;
  /// Gives the running VM, which start() made transient, a definition. Not called if the host has
  /// no definitions.
  virtual void define(const VmId& vm) { (void)vm; }
  /// Returns the policy in its definition.
  virtual std::vector<PolicySetting> defined_policy(const VmId& vm) {
    (void)vm;
    return {};
  }
  /// Called after each change through control(), for hosts that raise no event for it.
  virtual void changed(const VmId& vm) { (void)vm; }

  /// Waits until refresh() may have something new. Returns false if nothing new will come.
  virtual bool wait_for_change() = 0;

  virtual void lose_connection() {}
  virtual void restore_connection() {}

  virtual CpuId cpu() const = 0;  ///< an online one
  virtual NodeId node() const = 0;
  /// Returns an offline CPU of the host, if this implementation can have one.
  virtual std::optional<CpuId> offline_cpu() const { return std::nullopt; }
  /// Returns a node other than `node()`, if there is one.
  virtual std::optional<NodeId> other_node() const { return std::nullopt; }
  virtual std::optional<std::string> gap(ContractClaim claim) const = 0;
};

/// An implementation under test.
struct DomainHostKind {
  std::string name;
  std::function<std::unique_ptr<DomainHost>()> make;
};
/// Prints the kind for GoogleTest's names and messages.
void PrintTo(const DomainHostKind& kind, std::ostream* stream);
std::string name_of_kind(const testing::TestParamInfo<DomainHostKind>& tested);

/// Returns a UUID for hosts that need one.
std::string uuid_of(const std::string& name);

class DomainsContract : public testing::TestWithParam<DomainHostKind> {
 protected:
  DomainsContract() : host_(GetParam().make()) {}

  DomainHost& host() { return *host_; }

  /// Returns the running VMs according to the inventory, which must answer.
  std::vector<VmDescription> running();
  /// Returns the VM as the inventory currently describes it, if it lists it.
  std::optional<VmDescription> find(const VmId& vm);
  /// Returns the VM's run according to the inventory, which must list the VM soon.
  migration::DomainRun run_of(const VmId& vm);
  /// Checks that every change of that run returns `vanished` and leaves the VM unchanged.
  void expect_refused_and_unchanged(const migration::DomainRun& run);
  /// Refreshes until `holds` is true for the VM's description (nothing if it is not listed).
  testing::AssertionResult becomes(
      const VmId& vm, const std::function<bool(const std::optional<VmDescription>&)>& holds);

 private:
  std::unique_ptr<DomainHost> host_;
};

}  // namespace vmnuma::tests
