// SPDX-License-Identifier: Apache-2.0
/// The VMs that the inventory has found, as the control needs them.
///
/// Problem: the control is told a VM and a run of it; what it changes is a process, by numbers that
/// may be another's a moment later. Approach: the inventory holds each process by a descriptor,
/// which keeps its number from being given away; the control asks whether it still runs before and
/// after a change. Here is also what nobody else keeps: which pins are ours, so that they can be
/// made again after a reset, and policies that were set while the VM runs.
///
/// Properties:
///  - what is known of a run ends with it;
///  - a descriptor lives as long as anybody has it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "migration/linux/process_descriptor.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/model/process.h"

namespace vmnuma::balancer::qemu {

enum class Role { kVcpu, kEmulator, kIoThread };

/// A thread, or all those of the emulator.
struct ThreadKey {
  Role role{};
  std::int32_t number = 0;  ///< 0 for the emulator
  auto operator<=>(const ThreadKey&) const = default;
};

struct KnownVm {
  placement::VmProcess process;
  std::shared_ptr<const migration::ProcessDescriptor> descriptor;
  std::vector<std::string> io_thread_names;
  std::string cgroup;  ///< as in /proc/PID/cgroup, "/qemu.slice/100.scope"; empty: not known
  std::map<ThreadKey, std::vector<placement::CpuId>> pins;  ///< ours
  std::vector<placement::PolicySetting> policy;             ///< its own, or set while it runs
};

/// All functions from any thread; none blocks.
class KnownVms {
 public:
  void add(const placement::VmId& id, KnownVm vm);
  void forget(const placement::VmId& id);
  /// As of now.
  [[nodiscard]] std::optional<KnownVm> find(const placement::VmId& id) const;
  /// Of that run; nothing else changes. No CPUs: it has none of ours any more.
  void note_pin(const placement::VmId& id, const placement::VmProcess& process, ThreadKey thread,
                const std::vector<placement::CpuId>& cpus);
  void set_policy(const placement::VmId& id, const placement::VmProcess& process,
                  std::vector<placement::PolicySetting> policy);

 private:
  [[nodiscard]] KnownVm* run_of(const placement::VmId& id, const placement::VmProcess& process);

  mutable std::mutex mutex_;
  std::map<placement::VmId, KnownVm> vms_;
};

}  // namespace vmnuma::balancer::qemu
