// SPDX-License-Identifier: Apache-2.0
#include "balancer/inventory/hypervisors.h"

#include <optional>
#include <utility>

namespace vmnuma::balancer {

using migration::DomainRun;
using migration::ThreadId;

Hypervisors::Hypervisors(std::vector<Source> sources) {
  VMNUMA_CHECK(!sources.empty());
  for (Source& source : sources) {
    members_.push_back({std::move(source)});
  }
}

std::string Hypervisors::name() const {
  std::string names;
  for (const Member& member : members_) {
    names += (names.empty() ? "" : " and ") + member.source.hypervisor->name();
  }
  return names;
}

Result<std::vector<VmDescription>> Hypervisors::refresh() {
  std::map<VmId, VmDescription> running;
  std::map<VmId, std::size_t> owners;
  std::optional<Error> missing;
  for (std::size_t index = 0; index < members_.size(); ++index) {
    Member& member = members_[index];
    auto listed = member.source.hypervisor->refresh();
    if (!listed) {
      if (!member.source.is_optional || member.has_answered) {
        missing = missing ? missing : std::move(listed).error();
      } else if (std::exchange(member.said, listed.error().message) != listed.error().message) {
        notices_.push_back(listed.error().message + "; continuing without its VMs");
      }
      continue;
    }
    member.has_answered = true;
    for (VmDescription& vm : *listed) {
      const VmId id = vm.id;
      if (running.emplace(id, std::move(vm)).second) {
        owners[id] = index;
      }
    }
  }
  if (missing) {
    return tl::unexpected(*std::move(missing));
  }
  {
    const std::lock_guard lock(mutex_);
    owners_ = std::move(owners);
  }
  std::vector<VmDescription> ascending;
  ascending.reserve(running.size());
  for (auto& [id, vm] : running) {
    ascending.push_back(std::move(vm));
  }
  return ascending;
}

std::vector<VmId> Hypervisors::unreadable() const {
  std::vector<VmId> all;
  for (const Member& member : members_) {
    const std::vector<VmId> its = member.source.hypervisor->unreadable();
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

std::vector<std::string> Hypervisors::take_notices() {
  std::vector<std::string> notices = std::exchange(notices_, {});
  for (const Member& member : members_) {
    for (std::string& notice : member.source.hypervisor->take_notices()) {
      notices.push_back(std::move(notice));
    }
  }
  return notices;
}

Hypervisor* Hypervisors::owner_of(const VmId& vm) {
  const std::lock_guard lock(mutex_);
  const auto owner = owners_.find(vm);
  return owner == owners_.end() ? nullptr : members_[owner->second].source.hypervisor.get();
}

void Hypervisors::mark_dirty(const VmId& vm) {
  if (Hypervisor* owner = owner_of(vm); owner != nullptr) {
    owner->mark_dirty(vm);
  }
}

template <class Call>
Result<void> Hypervisors::with_control_of(const VmId& vm, const Call& call) {
  if (Hypervisor* owner = owner_of(vm); owner != nullptr) {
    return call(owner->control());
  }
  Result<void> result;
  for (const Member& member : members_) {
    Result<void> called = call(member.source.hypervisor->control());
    const bool is_elsewhere = !called && (called.error().code == ErrorCode::kNotFound ||
                                          called.error().code == ErrorCode::kUnavailable);
    if (!is_elsewhere) {
      return called;
    }
    // If a source does not answer, the VM may be one of its.
    if (result || called.error().code == ErrorCode::kUnavailable) {
      result = std::move(called);
    }
  }
  return result;
}

Result<void> Hypervisors::pin(const DomainRun& run, ThreadId thread,
                              const std::vector<CpuId>& cpus) {
  return with_control_of(run.vm, [&](auto& control) { return control.pin(run, thread, cpus); });
}

Result<void> Hypervisors::change_memory_nodes(const DomainRun& run,
                                              const std::vector<NodeId>& nodes,
                                              migration::MemoryNodes change) {
  return with_control_of(
      run.vm, [&](auto& control) { return control.change_memory_nodes(run, nodes, change); });
}

Result<void> Hypervisors::check_free(const DomainRun& run) {
  return with_control_of(run.vm, [&](auto& control) { return control.check_free(run); });
}

Result<void> Hypervisors::set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                     bool persistent) {
  return with_control_of(
      vm, [&](auto& control) { return control.set_policy(vm, settings, persistent); });
}

}  // namespace vmnuma::balancer
