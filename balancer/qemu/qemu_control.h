// SPDX-License-Identifier: Apache-2.0
/// Changes to running VMs that libvirt does not manage.
///
/// Problem: there is no management daemon to call; threads are bound by their numbers, which are
/// reused. Approach: sched_setaffinity(2) on the threads of the process that the inventory holds,
/// checking before and after that it still runs. The emulator is all threads that are neither vCPU
/// nor I/O threads; threads that they start later inherit their pins. Memory nodes are cpuset.mems
/// of a cgroup that another program owns, so they are not set; policies are kept as long as the
/// daemon and the VM run, because there is no definition that is ours to write.
///
/// Properties:
///  - no run of the VM other than the intended one is changed;
///  - what is remembered of a pin is what the kernel reports of it: the online CPUs;
///  - the inventory reads a VM again after each change.
#pragma once

#include <functional>
#include <vector>

#include "balancer/qemu/known_vms.h"
#include "migration/domain_control.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer::qemu {

/// All functions from any thread; calls for different VMs may run at the same time.
class QemuControl final : public migration::DomainControl {
 public:
  struct Callbacks {
    /// Called when this VM was changed.
    std::function<void(const VmId&)> on_change;
    /// Fills `known` with the VMs that run now. Needed for VMs that are named before the inventory
    /// was first read, as in the journal of a daemon that died.
    std::function<void()> look;
  };
  /// `root` is the host's root directory. It and `known` belong to the inventory and must outlive
  /// this object. Callbacks run in the caller's thread.
  QemuControl(const files::Directory& root, KnownVms& known, Callbacks callbacks)
      : root_(root), known_(known), callbacks_(std::move(callbacks)) {}

  /// See the port; memory nodes and persistent policies are unsupported.
  [[nodiscard]] Result<void> pin(const migration::DomainRun& run, migration::ThreadId thread,
                                 const std::vector<CpuId>& cpus) override;
  [[nodiscard]] Result<void> change_memory_nodes(const migration::DomainRun& run,
                                                 const std::vector<NodeId>& nodes,
                                                 migration::MemoryNodes change) override;
  /// Always succeeds: there are no jobs.
  [[nodiscard]] Result<void> check_free(const migration::DomainRun& /*run*/) override { return {}; }
  [[nodiscard]] Result<void> set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                        bool persistent) override;

 private:
  [[nodiscard]] Result<KnownVm> find(const migration::DomainRun& run) const;

  const files::Directory& root_;
  KnownVms& known_;
  const Callbacks callbacks_;
};

}  // namespace vmnuma::balancer::qemu
