// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_libvirt.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "migration/cpus_to_pin.h"
#include "placement/base/sorted.h"

namespace vmnuma::tools {

using migration::DomainRun;
using migration::MemoryNodes;
using migration::ThreadId;

namespace {

/// Each pin rewrites libvirt's status file with an fsync.
constexpr Microseconds kPinTime{5'000};
constexpr Microseconds kSlowPinTime{3'000'000};

}  // namespace

Result<SimVm*> SimLibvirt::find(const VmId& vm) {
  if (lost_) {
    return failure(ErrorCode::kUnavailable, "libvirt does not answer");
  }
  SimVm* found = host_.find(vm);
  if (found == nullptr) {
    return failure(ErrorCode::kNotFound, "there is no such VM any more");
  }
  return found;
}

Result<SimVm*> SimLibvirt::find(const DomainRun& run) {
  return find(run.vm).and_then([&](SimVm* vm) -> Result<SimVm*> {
    if (run.domain_id >= 0 && run.domain_id != vm->description.domain_id) {
      return failure(ErrorCode::kVanished,
                     fmt::format("'{}' is another run of the domain", vm->spec.name));
    }
    return vm;
  });
}

Result<std::vector<CpuId>> SimLibvirt::pin_to(const std::vector<CpuId>& cpus) const {
  const std::vector<CpuId> online = host_.topology.cpu_ids();
  const auto exists = [this](CpuId cpu) {
    return std::ranges::any_of(host_.nodes, [cpu](const SimNode& node) {
      return std::ranges::count(node.cpus, cpu, &Cpu::id) > 0;
    });
  };
  return migration::cpus_to_pin(cpus, exists, online).map([](migration::CpusToPin&& pin) {
    return std::move(pin.mask);
  });
}

void SimLibvirt::pay_for_pin(const VmId& vm) {
  const SimVm* found = host_.find(vm);
  const bool slow = slow_ || (found != nullptr && found->slow_pins);
  host_.clock += slow ? kSlowPinTime : kPinTime;
}

Result<void> SimLibvirt::pin(const DomainRun& run, ThreadId thread,
                             const std::vector<CpuId>& cpus) {
  pay_for_pin(run.vm);
  return find(run).and_then([&](SimVm* vm) -> Result<void> {
    const bool is_vcpu = thread.kind == ThreadId::Kind::kVcpu;
    const std::vector<std::int32_t>& io_threads = vm->description.io_threads;
    if ((is_vcpu && (thread.number < 0 || thread.number >= vm->spec.vcpus)) ||
        (thread.kind == ThreadId::Kind::kIoThread &&
         std::ranges::find(io_threads, thread.number) == io_threads.end())) {
      return failure(ErrorCode::kNotFound,
                     fmt::format("'{}' has no {}", vm->spec.name, thread_text(thread)));
    }
    VMNUMA_ASSIGN_OR_RETURN(const auto pin, pin_to(cpus));
    std::vector<Pin>& pins = is_vcpu ? vm->description.vcpu_pins : vm->description.io_thread_pins;
    const bool same = pinned_cpus(pins, thread.number) == pin;
    if (is_vcpu && vm->refuses_pins && thread.number == vm->spec.vcpus - 1 && !same) {
      return failure(ErrorCode::kPermissionDenied, fmt::format("{} of '{}' cannot be pinned",
                                                               thread_text(thread), vm->spec.name));
    }
    if (thread.kind == ThreadId::Kind::kEmulator) {
      vm->description.emulator_pin = pin;
    } else {
      set_pin(pins, thread.number, pin);
    }
    vm->places_are_known = vm->places_are_known && !is_vcpu;
    host_.domains_changed = true;
    return {};
  });
}

Result<void> SimLibvirt::set_policy(const VmId& id, const std::vector<PolicySetting>& settings,
                                    bool persistent) {
  return find(id).and_then([&](SimVm* vm) -> Result<void> {
    if (persistent) {
      return failure(ErrorCode::kUnsupported,
                     fmt::format("'{}' is transient, as all VMs of a simulated host are, so there "
                                 "is no definition to keep the policy",
                                 vm->spec.name));
    }
    vm->description.own_policy = settings;
    host_.domains_changed = true;
    return {};
  });
}

Result<void> SimLibvirt::change_memory_nodes(const DomainRun& run, const std::vector<NodeId>& nodes,
                                             MemoryNodes change) {
  pay_for_pin(run.vm);
  return find(run).and_then([&](SimVm* vm) -> Result<void> {
    const NumatuneMode mode = vm->description.numatune;
    if (mode != NumatuneMode::kNone && mode != NumatuneMode::kRestrictive) {
      return failure(ErrorCode::kUnsupported,
                     fmt::format("the numatune mode of '{}' is not restrictive", vm->spec.name));
    }
    std::vector<NodeId> wanted = nodes;
    if (change == MemoryNodes::kWiden) {
      if (mode == NumatuneMode::kNone) {
        return {};  // the VM may use all nodes
      }
      const std::vector<NodeId>& now = vm->description.numatune_nodes;
      wanted.insert(wanted.end(), now.begin(), now.end());
      wanted = sorted_unique(std::move(wanted));
    }
    std::vector<NodeIndex> allowed;
    for (const NodeId node : wanted) {
      const std::optional<NodeIndex> index = host_.topology.index_of(node);
      if (!index) {
        return failure(ErrorCode::kInvalidArgument, fmt::format("there is no node {}", node.value));
      }
      allowed.push_back(*index);
    }
    if (allowed.empty()) {
      return failure(ErrorCode::kInvalidArgument, "memory needs at least one node");
    }
    vm->description.numatune = NumatuneMode::kRestrictive;
    vm->description.numatune_nodes = std::move(wanted);
    host_.domains_changed = true;
    // The kernel copies all memory outside these nodes immediately, and libvirt waits for it.
    for (std::int64_t page = 0; page < host_.memory.pages(vm->owner); ++page) {
      const std::optional<NodeIndex> from = host_.memory.place(vm->owner, page);
      if (!from || std::ranges::find(allowed, *from) != allowed.end()) {
        continue;
      }
      for (const NodeIndex to : allowed) {
        if (host_.memory.move(vm->owner, page, to)) {
          host_.clock += host_.copy_time(*from, to);
          host_.record_copy(*from, to, CpuTime{host_.copy_time(*from, to).value});
          break;
        }
      }
    }
    return {};
  });
}

}  // namespace vmnuma::tools
