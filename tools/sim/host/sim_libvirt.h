// SPDX-License-Identifier: Apache-2.0
/// The libvirt of a simulated host: pins and memory nodes are changed in the state that its CPUs
/// and memory use, and take time on the worker's clock.
#pragma once

#include <cstdint>
#include <vector>

#include "migration/domain_control.h"
#include "tools/sim/host/host_state.h"

namespace vmnuma::tools {

class SimLibvirt final : public migration::DomainControl {
 public:
  /// `host` must outlive it.
  explicit SimLibvirt(HostState& host) : host_(host) {}

  /// Makes each pin take long, for all VMs. For single VMs see SimVm::slow_pins.
  void slow_down(bool slow) { slow_ = slow; }
  /// Makes changes of pins and memory nodes fail.
  void lose(bool lost) { lost_ = lost; }

  [[nodiscard]] Result<void> pin(const migration::DomainRun& run, migration::ThreadId thread,
                                 const std::vector<CpuId>& cpus) override;
  [[nodiscard]] Result<void> change_memory_nodes(const migration::DomainRun& run,
                                                 const std::vector<NodeId>& nodes,
                                                 migration::MemoryNodes change) override;
  /// There are never any jobs.
  [[nodiscard]] Result<void> check_free(const migration::DomainRun& /*run*/) override { return {}; }
  [[nodiscard]] Result<void> set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                        bool persistent) override;

 private:
  [[nodiscard]] Result<SimVm*> find(const VmId& vm);
  [[nodiscard]] Result<SimVm*> find(const migration::DomainRun& run);
  /// Returns where a thread may run that is pinned to `cpus`.
  [[nodiscard]] Result<std::vector<CpuId>> pin_to(const std::vector<CpuId>& cpus) const;
  void pay_for_pin(const VmId& vm);

  HostState& host_;
  bool slow_ = false;
  bool lost_ = false;
};

}  // namespace vmnuma::tools
