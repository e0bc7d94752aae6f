// SPDX-License-Identifier: Apache-2.0
/// Fake running VMs: both libvirt ports over a table in memory.
///
/// Problem: the sampler and the executor must be tested with VMs that start, stop and change at any
/// time. Approach: follow the same rules as libvirt, which the same contract tests check
/// (tests/contract): changes are visible after the next refresh(), and impossible ones are refused
/// with the same kinds of error.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "migration/domain_control.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"

namespace vmnuma::tests {

/// All functions from any thread.
class FakeDomains final : public migration::DomainControl {
 public:
  /// Takes the host's online CPUs, its nodes and its offline CPUs; all others are refused.
  FakeDomains(std::vector<CpuId> cpus, std::vector<NodeId> nodes, std::vector<CpuId> offline = {});

  /// Starts the VM, or replaces the running one with its id.
  void start(VmDescription vm);
  void stop(const VmId& vm);
  /// Gives the running VM a definition; VMs without one are transient.
  void define(const VmId& vm);
  /// Returns the policy with which the VM would start the next time.
  [[nodiscard]] std::vector<PolicySetting> defined_policy(const VmId& vm) const;
  /// Sets whether a job holds the VM, for check_free() only.
  void set_busy(const VmId& vm, bool busy);
  /// Makes every call of the ports fail with `error`, until this is called with nothing.
  void fail_with(std::optional<Error> error);

  /// Returns the changes made so far, in order: "pin vCPU 0 of web1 to 4-7", "set_memory_nodes web1
  /// to 0-1".
  [[nodiscard]] std::vector<std::string> changes() const;

  [[nodiscard]] Result<std::vector<VmDescription>> refresh();
  [[nodiscard]] Result<void> pin(const migration::DomainRun& run, migration::ThreadId thread,
                                 const std::vector<CpuId>& cpus) override;
  [[nodiscard]] Result<void> change_memory_nodes(const migration::DomainRun& run,
                                                 const std::vector<NodeId>& nodes,
                                                 migration::MemoryNodes change) override;
  [[nodiscard]] Result<void> check_free(const migration::DomainRun& run) override;
  [[nodiscard]] Result<void> set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                        bool persistent) override;

 private:
  [[nodiscard]] Result<VmDescription*> find(const VmId& vm);
  [[nodiscard]] Result<VmDescription*> find(const migration::DomainRun& run);
  /// Returns where a thread may run that is pinned to `cpus`.
  [[nodiscard]] Result<std::vector<CpuId>> pin_to(const std::vector<CpuId>& cpus) const;
  [[nodiscard]] Result<void> set_nodes(VmDescription& vm, const std::vector<NodeId>& nodes);

  const std::vector<CpuId> cpus_;
  const std::vector<NodeId> nodes_;
  const std::vector<CpuId> offline_;

  mutable std::mutex mutex_;  // guards everything below
  std::map<VmId, VmDescription> running_;
  std::map<VmId, std::vector<PolicySetting>> defined_;
  std::set<VmId> busy_;
  std::vector<std::string> changes_;
  std::optional<Error> error_;
};

}  // namespace vmnuma::tests
