// SPDX-License-Identifier: Apache-2.0
/// The VMs found by the inventory, as the control needs them.
///
/// Problem: the control is given a VM and a run of it; what it changes is a process, identified by
/// numbers that may be reused a moment later. Approach: the inventory holds each process by a
/// descriptor, which prevents reuse of its number; the control checks before and after a change
/// that it still runs. This also keeps what is stored nowhere else: which pins are ours, so that
/// they can be restored after a reset, and policies that were set while the VM runs.
///
/// Properties:
///  - what is known about a run ends with it;
///  - a descriptor lives as long as it has an owner.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "migration/domain_control.h"
#include "migration/linux/process_descriptor.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer::qemu {

struct KnownVm {
  VmProcess process;
  std::shared_ptr<const migration::ProcessDescriptor> descriptor;
  std::vector<std::string> io_thread_names;
  std::map<migration::ThreadId, std::vector<CpuId>> pins;  ///< ours
  std::vector<PolicySetting> policy;                       ///< its own, or set while it runs
};

/// All functions from any thread; none blocks.
class KnownVms {
 public:
  void add(const VmId& id, KnownVm vm);
  void forget(const VmId& id);
  /// The VM's current data; nothing if it is not known.
  [[nodiscard]] std::optional<KnownVm> find(const VmId& id) const;
  /// Records a pin of ours, for that run only. Without CPUs: the thread no longer has a pin of
  /// ours.
  void record_pin(const VmId& id, const VmProcess& process, migration::ThreadId thread,
                  const std::vector<CpuId>& cpus);
  void set_policy(const VmId& id, const VmProcess& process, std::vector<PolicySetting> policy);

 private:
  [[nodiscard]] KnownVm* run_of(const VmId& id, const VmProcess& process);

  mutable std::mutex mutex_;
  std::map<VmId, KnownVm> vms_;
};

}  // namespace vmnuma::balancer::qemu
