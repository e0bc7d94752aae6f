// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_domains.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "migration/cpus_to_pin.h"
#include "placement/base/sorted.h"
#include "placement/model/text.h"

namespace vmnuma::tests {
namespace {

using migration::DomainRun;
using migration::ThreadId;

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Replaces or adds the pin of `number`, keeping the order.
void set_pin(std::vector<Pin>& pins, std::int32_t number, const std::vector<CpuId>& cpus) {
  const auto at = std::lower_bound(pins.begin(), pins.end(), number,
                                   [](const Pin& pin, std::int32_t n) { return pin.number < n; });
  if (at != pins.end() && at->number == number) {
    at->cpus = cpus;
  } else {
    pins.insert(at, {number, cpus});
  }
}

}  // namespace

FakeDomains::FakeDomains(std::vector<CpuId> cpus, std::vector<NodeId> nodes,
                         std::vector<CpuId> offline)
    : cpus_(std::move(cpus)), nodes_(std::move(nodes)), offline_(std::move(offline)) {}

void FakeDomains::start(VmDescription vm) {
  const std::lock_guard lock(mutex_);
  running_.insert_or_assign(vm.id, std::move(vm));
}

void FakeDomains::stop(const VmId& vm) {
  const std::lock_guard lock(mutex_);
  running_.erase(vm);
}

void FakeDomains::define(const VmId& vm) {
  const std::lock_guard lock(mutex_);
  defined_[vm] = running_.at(vm).own_policy;
}

std::vector<PolicySetting> FakeDomains::defined_policy(const VmId& vm) const {
  const std::lock_guard lock(mutex_);
  return defined_.at(vm);
}

void FakeDomains::set_busy(const VmId& vm, bool busy) {
  const std::lock_guard lock(mutex_);
  if (busy) {
    busy_.insert(vm);
  } else {
    busy_.erase(vm);
  }
}

void FakeDomains::fail_with(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
}

std::vector<std::string> FakeDomains::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

Result<std::vector<VmDescription>> FakeDomains::refresh() {
  const std::lock_guard lock(mutex_);
  if (error_) {
    return tl::unexpected<Error>(*error_);
  }
  std::vector<VmDescription> vms;
  for (const auto& [id, vm] : running_) {
    vms.push_back(vm);
  }
  return vms;
}

Result<void> FakeDomains::pin(const DomainRun& run, ThreadId thread,
                              const std::vector<CpuId>& cpus) {
  const std::lock_guard lock(mutex_);
  const auto pin = pin_to(cpus);
  if (!pin) {
    return tl::unexpected<Error>(pin.error());
  }
  const auto found = find(run);
  if (!found) {
    return tl::unexpected<Error>(found.error());
  }
  VmDescription& vm = **found;
  if (thread.kind == ThreadId::Kind::kEmulator) {
    vm.emulator_pin = *pin;
  } else {
    const bool is_vcpu = thread.kind == ThreadId::Kind::kVcpu;
    if (!contains(is_vcpu ? vm.vcpus : vm.io_threads, thread.number)) {
      return failure(ErrorCode::kNotFound,
                     fmt::format("'{}' has no {}", vm.name, thread_text(thread)));
    }
    set_pin(is_vcpu ? vm.vcpu_pins : vm.io_thread_pins, thread.number, *pin);
  }
  changes_.push_back(
      fmt::format("pin {} of {} to {}", thread_text(thread), vm.name, to_list(*pin)));
  return {};
}

Result<void> FakeDomains::change_memory_nodes(const DomainRun& run,
                                              const std::vector<NodeId>& nodes,
                                              migration::MemoryNodes change) {
  const std::lock_guard lock(mutex_);
  VMNUMA_ASSIGN_OR_RETURN(VmDescription* const vm, find(run));
  std::vector<NodeId> wanted = nodes;
  if (change == migration::MemoryNodes::kWiden) {
    if (vm->numatune == NumatuneMode::kNone) {
      return {};  // the VM may use all nodes
    }
    wanted.insert(wanted.end(), vm->numatune_nodes.begin(), vm->numatune_nodes.end());
    wanted = sorted_unique(std::move(wanted));
  }
  return set_nodes(*vm, wanted);
}

Result<void> FakeDomains::set_nodes(VmDescription& vm, const std::vector<NodeId>& nodes) {
  if (nodes.empty()) {
    return failure(ErrorCode::kInvalidArgument, "the node set is empty");
  }
  for (const NodeId node : nodes) {
    if (!contains(nodes_, node)) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("the host has no node {}", node.value));
    }
  }
  if (vm.numatune != NumatuneMode::kNone && vm.numatune != NumatuneMode::kRestrictive) {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("'{}' has its memory bound for good", vm.name));
  }
  vm.numatune = NumatuneMode::kRestrictive;
  vm.numatune_auto = false;
  vm.numatune_nodes = nodes;
  changes_.push_back(fmt::format("set_memory_nodes {} to {}", vm.name, to_list(nodes)));
  return {};
}

Result<void> FakeDomains::check_free(const DomainRun& run) {
  const std::lock_guard lock(mutex_);
  if (find(run) && busy_.contains(run.vm)) {
    return failure(ErrorCode::kBusy, "a libvirt job is under way");
  }
  return {};
}

Result<void> FakeDomains::set_policy(const VmId& id, const std::vector<PolicySetting>& settings,
                                     bool persistent) {
  const std::lock_guard lock(mutex_);
  const auto vm = find(id);
  if (!vm) {
    return tl::unexpected<Error>(vm.error());
  }
  const auto defined = defined_.find(id);
  if (persistent && defined == defined_.end()) {
    return failure(ErrorCode::kUnsupported, fmt::format("'{}' is transient", (*vm)->name));
  }
  (*vm)->own_policy = settings;
  if (persistent) {
    defined->second = settings;
  }
  changes_.push_back(fmt::format("set_policy {}", (*vm)->name));
  return {};
}

Result<VmDescription*> FakeDomains::find(const VmId& vm) {
  if (error_) {
    return tl::unexpected<Error>(*error_);
  }
  const auto found = running_.find(vm);
  if (found == running_.end()) {
    return failure(ErrorCode::kNotFound, fmt::format("no VM {}", to_text(vm)));
  }
  return &found->second;
}

Result<VmDescription*> FakeDomains::find(const DomainRun& run) {
  return find(run.vm).and_then([&](VmDescription* vm) -> Result<VmDescription*> {
    if (run.domain_id >= 0 && run.domain_id != vm->domain_id) {
      return failure(ErrorCode::kVanished,
                     fmt::format("'{}' was started anew: its domain id is {}, not {}", vm->name,
                                 vm->domain_id, run.domain_id));
    }
    return vm;
  });
}

Result<std::vector<CpuId>> FakeDomains::pin_to(const std::vector<CpuId>& cpus) const {
  const auto exists = [this](CpuId cpu) { return contains(cpus_, cpu) || contains(offline_, cpu); };
  return migration::cpus_to_pin(cpus, exists, cpus_).map([](migration::CpusToPin&& pin) {
    return std::move(pin.mask);
  });
}

}  // namespace vmnuma::tests
