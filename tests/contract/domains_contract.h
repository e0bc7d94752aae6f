// SPDX-License-Identifier: Apache-2.0
/// What every implementation of the two VM ports must do: stats::DomainInventory and
/// migration::DomainControl.
///
/// An implementation gives the suite a DomainHost and instantiates it:
///   INSTANTIATE_TEST_SUITE_P(Fakes, DomainsContract,
///                            testing::Values(DomainHostKind{"FakeDomains",
///                            std::make_unique<FakeHost>}), name_of_kind);
/// Claims it cannot be held to are named by gap(), with the reason that the skipped test prints.
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
#include "stats/domain_inventory.h"

namespace vmnuma::tests {

/// Claims that not every implementation can be tested for.
enum class ContractClaim {
  kUnknownNodeIsRefused,
  kLostConnectionIsUnavailable,
  kVmsHaveDefinitions,
  kMemoryNodesCanBeSet,
  kUuidsReturn,  ///< a VM that is started anew by the same name has the same UUID
};

/// One host with the ports under test.
class DomainHost {
 public:
  virtual ~DomainHost() = default;

  virtual stats::DomainInventory& inventory() = 0;
  virtual migration::DomainControl& control() = 0;

  /// Starts a VM, with a UUID that follows from its name, with two vCPUs and I/O thread 1, pinned
  /// nowhere; numatune kNone, or kStrict on `node()`.
  virtual VmId start(const std::string& name, NumatuneMode numatune) = 0;
  virtual void stop(const VmId& vm) = 0;
  /// Gives the running VM, which start() made transient, a definition. Not called where the host
  /// has none.
  virtual void define(const VmId& vm) { (void)vm; }
  /// The policy in its definition.
  virtual std::vector<PolicySetting> defined_policy(const VmId& vm) {
    (void)vm;
    return {};
  }
  /// Called after each change through control(): for hosts that raise no event for it.
  virtual void changed(const VmId& vm) { (void)vm; }

  /// Waits until refresh() may have something new. False if nothing will come.
  virtual bool wait_for_change() = 0;

  virtual void lose_connection() {}
  virtual void restore_connection() {}

  virtual CpuId cpu() const = 0;  ///< an online one
  virtual NodeId node() const = 0;
  /// One that the host has, if this implementation can have one.
  virtual std::optional<CpuId> offline_cpu() const { return std::nullopt; }
  /// A node besides `node()`, where there is one.
  virtual std::optional<NodeId> other_node() const { return std::nullopt; }
  virtual std::optional<std::string> gap(ContractClaim claim) const = 0;
};

/// An implementation under test.
struct DomainHostKind {
  std::string name;
  std::function<std::unique_ptr<DomainHost>()> make;
};
/// The kind in the names and messages of GoogleTest.
void PrintTo(const DomainHostKind& kind, std::ostream* stream);
std::string name_of_kind(const testing::TestParamInfo<DomainHostKind>& tested);

/// A UUID for hosts that want one.
std::string uuid_of(const std::string& name);

class DomainsContract : public testing::TestWithParam<DomainHostKind> {
 protected:
  DomainsContract() : host_(GetParam().make()) {}

  DomainHost& host() { return *host_; }

  /// The running VMs by the inventory, which must answer.
  std::vector<VmDescription> running();
  /// The VM as the inventory has it now, if it has it.
  std::optional<VmDescription> find(const VmId& vm);
  /// The VM's run as the inventory has it, which must list the VM before long.
  migration::DomainRun run_of(const VmId& vm);
  /// Every change of that run says `vanished`, and the VM stays as it is.
  void expect_refused_and_unchanged(const migration::DomainRun& run);
  /// Refreshes until `holds` is true of the VM's description (nothing if it is not listed).
  testing::AssertionResult becomes(
      const VmId& vm, const std::function<bool(const std::optional<VmDescription>&)>& holds);

 private:
  std::unique_ptr<DomainHost> host_;
};

}  // namespace vmnuma::tests
