// SPDX-License-Identifier: Apache-2.0
#include "balancer/originals.h"

#include <algorithm>
#include <utility>

namespace vmnuma::balancer {

using migration::PinChange;
using migration::VmChange;
using placement::CpuId;
using placement::NodeId;
using placement::Pin;

namespace {

bool is_ours(const Original::Pins& pins, const std::vector<CpuId>& cpus) {
  return std::find(pins.ours.begin(), pins.ours.end(), cpus) != pins.ours.end();
}

void note_change(Original& original, const VmChange& change) {
  for (const PinChange& pin : change.pins) {
    const auto [entry, is_new] =
        original.threads.try_emplace({pin.thread, pin.number}, Original::Pins{pin.before, {}});
    Original::Pins& pins = entry->second;
    if (!is_new && pin.before != pins.found && !is_ours(pins, pin.before)) {
      pins = {pin.before, {}};  // somebody else's since
    }
    if (!is_ours(pins, pin.after)) {
      pins.ours.push_back(pin.after);
    }
  }
  const bool sets_nodes =
      change.memory_mode == placement::MemoryMode::kMask || !change.memory.allowed_after.empty();
  if (sets_nodes && !change.memory.quotas.empty() && !original.memory_nodes) {
    original.memory_nodes = change.memory.allowed_before;
  }
}

std::vector<CpuId> pin_of(const std::vector<Pin>& pins, std::int32_t number) {
  const auto found =
      std::find_if(pins.begin(), pins.end(), [&](const Pin& pin) { return pin.number == number; });
  return found == pins.end() ? std::vector<CpuId>{} : found->cpus;
}

/// Every thread of the VM with its pin as it is now, in the order in which pins are made.
std::vector<std::pair<ThreadId, std::vector<CpuId>>> threads_of(
    const placement::VmDescription& vm) {
  std::vector<std::pair<ThreadId, std::vector<CpuId>>> threads;
  for (const std::int32_t vcpu : vm.vcpus) {
    threads.emplace_back(ThreadId{PinChange::Thread::kVcpu, vcpu}, pin_of(vm.vcpu_pins, vcpu));
  }
  threads.emplace_back(ThreadId{PinChange::Thread::kEmulator, 0}, vm.emulator_pin);
  for (const std::int32_t io_thread : vm.io_threads) {
    threads.emplace_back(ThreadId{PinChange::Thread::kIoThread, io_thread},
                         pin_of(vm.io_thread_pins, io_thread));
  }
  return threads;
}

}  // namespace

std::vector<NodeId> nodes_with_memory(const placement::Topology& topology) {
  std::vector<NodeId> nodes;
  for (const placement::Node& node : topology.nodes) {
    if (node.memory > placement::Bytes{}) {
      nodes.push_back(node.id);
    }
  }
  return nodes;
}

void note_order(Originals& originals, const migration::Order& order) {
  for (const VmChange& change : order.changes) {
    Original& original = originals[change.vm];
    if (original.process != change.process) {
      original = {change.process, {}, {}};
    }
    note_change(original, change);
  }
}

VmChange way_back(const placement::VmDescription& vm, const placement::VmProcess& process,
                  const Original* original, const placement::Topology& topology) {
  VmChange change;
  change.vm = vm.id;
  change.vm_name = vm.name;
  change.process = process;
  change.memory_mode = vm.policy.memory_mode;
  for (const auto& [thread, now] : threads_of(vm)) {
    if (original == nullptr) {
      if (!now.empty()) {
        change.pins.push_back({thread.kind, thread.number, now, {}});
      }
      continue;
    }
    const auto known = original->threads.find(thread);
    if (known != original->threads.end() && now != known->second.found &&
        is_ours(known->second, now)) {
      change.pins.push_back({thread.kind, thread.number, now, known->second.found});
    }
  }
  const bool masked = original == nullptr ? vm.policy.memory_mode == placement::MemoryMode::kMask &&
                                                !vm.numatune_nodes.empty()
                                          : original->memory_nodes.has_value();
  if (masked) {
    change.memory.allowed_before = vm.numatune_nodes;
    change.memory.allowed_after = original == nullptr || original->memory_nodes->empty()
                                      ? nodes_with_memory(topology)
                                      : *original->memory_nodes;
  }
  return change;
}

}  // namespace vmnuma::balancer
