// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/known_vms.h"

#include <utility>

namespace vmnuma::balancer::qemu {

void KnownVms::add(const VmId& id, KnownVm vm) {
  const std::lock_guard lock(mutex_);
  vms_.insert_or_assign(id, std::move(vm));
}

void KnownVms::forget(const VmId& id) {
  const std::lock_guard lock(mutex_);
  vms_.erase(id);
}

std::optional<KnownVm> KnownVms::find(const VmId& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = vms_.find(id);
  return found == vms_.end() ? std::nullopt : std::optional(found->second);
}

KnownVm* KnownVms::run_of(const VmId& id, const VmProcess& process) {
  const auto found = vms_.find(id);
  return found == vms_.end() || found->second.process != process ? nullptr : &found->second;
}

void KnownVms::record_pin(const VmId& id, const VmProcess& process, migration::ThreadId thread,
                          const std::vector<CpuId>& cpus) {
  const std::lock_guard lock(mutex_);
  if (KnownVm* vm = run_of(id, process); vm != nullptr) {
    if (cpus.empty()) {
      vm->pins.erase(thread);
    } else {
      vm->pins[thread] = cpus;
    }
  }
}

void KnownVms::set_policy(const VmId& id, const VmProcess& process,
                          std::vector<PolicySetting> policy) {
  const std::lock_guard lock(mutex_);
  if (KnownVm* vm = run_of(id, process); vm != nullptr) {
    vm->policy = std::move(policy);
  }
}

}  // namespace vmnuma::balancer::qemu
