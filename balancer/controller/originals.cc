// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/originals.h"

#include <algorithm>
#include <utility>

#include "placement/base/mapped.h"
#include "placement/base/sorted.h"

namespace vmnuma::balancer {

using migration::PinChange;
using migration::VmChange;

namespace {

bool is_ours(const Original::Pins& pins, const std::vector<CpuId>& cpus) {
  return std::ranges::find(pins.ours, cpus) != pins.ours.end();
}

/// Every thread of the VM with its current pin, in the order in which pins are made.
std::vector<std::pair<ThreadId, std::vector<CpuId>>> threads_of(const VmDescription& vm) {
  std::vector<std::pair<ThreadId, std::vector<CpuId>>> threads;
  for (const std::int32_t vcpu : vm.vcpus) {
    threads.emplace_back(ThreadId{PinChange::Thread::kVcpu, vcpu}, pinned_cpus(vm.vcpu_pins, vcpu));
  }
  threads.emplace_back(ThreadId{PinChange::Thread::kEmulator, 0}, vm.emulator_pin);
  for (const std::int32_t io_thread : vm.io_threads) {
    threads.emplace_back(ThreadId{PinChange::Thread::kIoThread, io_thread},
                         pinned_cpus(vm.io_thread_pins, io_thread));
  }
  return threads;
}

bool has_node(const std::vector<NodeId>& nodes, NodeId node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

bool contains_all(const std::vector<NodeId>& nodes, const std::vector<NodeId>& others) {
  return std::ranges::all_of(others, [&](const NodeId node) { return has_node(nodes, node); });
}

/// Nodes as passed to libvirt: those of `nodes` that are present, or all nodes if none is.
std::vector<NodeId> or_all(std::vector<NodeId> nodes, const Topology& topology) {
  std::vector<NodeId> present = nodes_with_memory(topology);
  std::erase_if(nodes, [&](NodeId node) { return !has_node(present, node); });
  if (nodes.empty()) {
    return present;
  }
  std::ranges::sort(nodes);
  return nodes;
}

std::vector<NodeId> together(std::vector<NodeId> nodes, const std::vector<NodeId>& others) {
  nodes.insert(nodes.end(), others.begin(), others.end());
  return sorted_unique(std::move(nodes));
}

/// Divides memory that is elsewhere evenly over `nodes`; what is already there stays.
std::vector<migration::NodeQuota> quotas_on(const std::vector<NodeId>& nodes, const VmSample& now,
                                            const Topology& topology) {
  auto quotas = mapped(nodes, [](NodeId node) { return migration::NodeQuota{node, {}}; });
  Bytes elsewhere;
  for (std::size_t i = 0; now.memory && i < topology.nodes.size() && i < now.memory->size(); ++i) {
    const auto quota = std::ranges::find(quotas, topology.nodes[i].id, &migration::NodeQuota::node);
    (quota == quotas.end() ? elsewhere : quota->bytes) += (*now.memory)[i];
  }
  for (migration::NodeQuota& quota : quotas) {
    quota.bytes += elsewhere / static_cast<std::int64_t>(quotas.size());
  }
  return quotas;
}

migration::MemoryChange memory_change_to_original(const VmDescription& vm, const VmSample& now,
                                                  const Original* original,
                                                  const Topology& topology) {
  const bool changed =
      original == nullptr ? vm.policy.memory_mode == MemoryMode::kMask && !vm.numatune_nodes.empty()
                          : original->memory_nodes.has_value();
  if (!changed) {
    return {};
  }
  const std::vector<NodeId> allowed = or_all(vm.numatune_nodes, topology);
  std::vector<NodeId> found =
      or_all(original == nullptr ? std::vector<NodeId>{} : *original->memory_nodes, topology);
  migration::MemoryChange memory;
  if (!contains_all(found, allowed)) {
    if (why_memory_stays(vm)) {
      found = together(std::move(found), allowed);
    } else {
      memory.quotas = quotas_on(found, now, topology);
    }
  }
  if (found == allowed) {
    return {};
  }
  memory.allowed_before = vm.numatune_nodes;
  memory.allowed_after = std::move(found);
  return memory;
}

}  // namespace

std::vector<NodeId> nodes_with_memory(const Topology& topology) {
  std::vector<NodeId> nodes;
  for (const Node& node : topology.nodes) {
    if (node.memory > Bytes{}) {
      nodes.push_back(node.id);
    }
  }
  return nodes;
}

FirstChanges record_change(Original& original, const VmChange& change) {
  FirstChanges first;
  if (original.process != change.process) {
    original = {change.process, {}, {}};
  }
  for (const PinChange& pin : change.pins) {
    const auto [entry, is_new] =
        original.threads.try_emplace({pin.thread, pin.number}, Original::Pins{pin.before, {}});
    Original::Pins& pins = entry->second;
    if (!is_new && pin.before != pins.found && !is_ours(pins, pin.before)) {
      pins = {pin.before, {}};  // changed externally since
    }
    if (!is_ours(pins, pin.after)) {
      pins.ours.push_back(pin.after);
      first.pins.emplace_back(ThreadId{pin.thread, pin.number}, pin.after);
    }
  }
  const bool sets_nodes =
      change.memory_mode == MemoryMode::kMask || !change.memory.allowed_after.empty();
  if (sets_nodes && !change.memory.quotas.empty() && !original.memory_nodes) {
    original.memory_nodes = change.memory.allowed_before;
    first.memory_nodes = true;
  }
  return first;
}

void forget_memory_nodes(Original& original, const FirstChanges& changes) {
  if (changes.memory_nodes) {
    original.memory_nodes.reset();
  }
}

void forget_pins(Original& original, const FirstChanges& changes) {
  for (const auto& [thread, cpus] : changes.pins) {
    if (const auto known = original.threads.find(thread); known != original.threads.end()) {
      std::erase(known->second.ours, cpus);
    }
  }
}

void record_order(Originals& originals, const migration::Order& order) {
  for (const VmChange& change : order.changes) {
    record_change(originals[change.vm], change);
  }
}

migration::MemoryChange widened_as_found(const VmDescription& vm, const Original& original,
                                         const Topology& topology) {
  if (!original.memory_nodes || vm.numatune_nodes.empty()) {
    return {};
  }
  const std::vector<NodeId> found = or_all(*original.memory_nodes, topology);
  if (contains_all(vm.numatune_nodes, found)) {
    return {};
  }
  migration::MemoryChange memory;
  memory.allowed_before = vm.numatune_nodes;
  memory.allowed_after = together(vm.numatune_nodes, found);
  return memory;
}

VmChange empty_change(const VmDescription& vm, const VmProcess& process) {
  VmChange change;
  change.vm = vm.id;
  change.vm_name = vm.name;
  change.process = process;
  change.domain_id = vm.domain_id;
  change.memory_mode = vm.policy.memory_mode;
  return change;
}

VmChange change_to_original(const VmDescription& vm, const VmSample& now, const Original* original,
                            const Topology& topology, bool is_under_way) {
  VmChange change = empty_change(vm, now.process);
  for (const auto& [thread, pin] : threads_of(vm)) {
    if (original == nullptr) {
      if (!pin.empty()) {
        change.pins.push_back({thread.kind, thread.number, pin, {}});
      }
      continue;
    }
    const auto known = original->threads.find(thread);
    if (known == original->threads.end()) {
      continue;
    }
    if (pin == known->second.found ? is_under_way : is_ours(known->second, pin)) {
      change.pins.push_back({thread.kind, thread.number, pin, known->second.found});
    }
  }
  change.memory = memory_change_to_original(vm, now, original, topology);
  return change;
}

}  // namespace vmnuma::balancer
