// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/pins.h"

#include <algorithm>
#include <optional>

#include "balancer/qemu/affinity.h"

namespace vmnuma::balancer::qemu {

using migration::ThreadId;

namespace {

/// The thread's pin; empty if it may run anywhere, or has ended.
std::vector<CpuId> pin_of(std::int64_t tid, const std::vector<CpuId>& online) {
  auto cpus = affinity_of(tid);
  return cpus && *cpus != online ? *std::move(cpus) : std::vector<CpuId>{};
}

}  // namespace

std::vector<std::int64_t> tids_of(const Threads& threads, ThreadId thread) {
  std::vector<std::int64_t> tids;
  switch (thread.kind) {
    case ThreadId::Kind::kVcpu:
      for (const stats::VcpuThread& one : threads.vcpus) {
        if (one.vcpu == thread.number) {
          tids.push_back(one.tid);
        }
      }
      break;
    case ThreadId::Kind::kIoThread:
      for (const IoThread& one : threads.io_threads) {
        if (one.number == thread.number) {
          tids.push_back(one.tid);
        }
      }
      break;
    case ThreadId::Kind::kEmulator:
      tids = threads.emulator;
      break;
  }
  return tids;
}

Result<void> pin_threads(const std::vector<std::int64_t>& tids, const std::vector<CpuId>& cpus) {
  std::optional<Error> passed_over;
  bool pinned = false;
  for (const std::int64_t tid : tids) {
    auto set = set_affinity(tid, cpus);
    if (set) {
      pinned = true;
    } else if (set.error().code == ErrorCode::kVanished ||
               (set.error().code == ErrorCode::kInvalidArgument && tids.size() > 1)) {
      passed_over = std::move(set).error();
    } else {
      return set;
    }
  }
  if (!pinned && passed_over) {
    return tl::unexpected(*passed_over);
  }
  return {};
}

void read_pins(const Threads& threads, std::int64_t pid, const std::vector<CpuId>& online,
               VmDescription& vm) {
  vm.vcpus.clear();
  vm.vcpu_pins.clear();
  vm.io_thread_pins.clear();
  for (const stats::VcpuThread& thread : threads.vcpus) {
    vm.vcpus.push_back(thread.vcpu);
    vm.max_vcpus = std::max(vm.max_vcpus, thread.vcpu + 1);
    if (auto cpus = pin_of(thread.tid, online); !cpus.empty()) {
      vm.vcpu_pins.push_back({thread.vcpu, std::move(cpus)});
    }
  }
  for (const IoThread& thread : threads.io_threads) {
    if (auto cpus = pin_of(thread.tid, online); !cpus.empty()) {
      vm.io_thread_pins.push_back({thread.number, std::move(cpus)});
    }
  }
  vm.emulator_pin = pin_of(pid, online);
  vm.default_pin = vm.emulator_pin;
}

int restore_pins(const KnownVm& vm, const Threads& threads, const std::vector<CpuId>& free) {
  int restored = 0;
  for (const auto& [key, wanted] : vm.pins) {
    std::vector<std::int64_t> reset;
    for (const std::int64_t tid : tids_of(threads, key)) {
      const auto cpus = affinity_of(tid);
      if (cpus && *cpus == free && *cpus != wanted) {
        reset.push_back(tid);
      }
    }
    if (!reset.empty() && pin_threads(reset, wanted)) {
      restored += static_cast<int>(reset.size());
    }
  }
  return restored;
}

}  // namespace vmnuma::balancer::qemu
