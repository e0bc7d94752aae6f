// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/cpu_control.h"

#include <algorithm>
#include <utility>

#include "balancer/controller/found_pins.h"

namespace vmnuma::balancer {

using migration::PinChange;

namespace {

bool was_ordered(const Original& original, const ClientRecord& client,
                 const std::vector<CpuId>& cpus) {
  return std::ranges::all_of(client.shape.vcpus, [&](std::int32_t vcpu) {
    const auto thread = original.threads.find({PinChange::Thread::kVcpu, vcpu});
    return thread != original.threads.end() &&
           std::ranges::find(thread->second.ours, cpus) != thread->second.ours.end();
  });
}

/// The home of a client that is pinned to these nodes but remembered on another one, because a move
/// that was interrupted by the daemon's death has since been undone.
NodeId with_most_memory(const VmRecord& vm, const Topology& topology,
                        const std::vector<NodeId>& nodes) {
  const auto memory_on = [&](NodeId node) {
    const auto index = topology.index_of(node);
    return vm.memory && index && *index < vm.memory->size() ? (*vm.memory)[*index] : Bytes{};
  };
  return *std::ranges::max_element(nodes, {}, memory_on);
}

}  // namespace

bool may_be_pinned(const VmRecord& vm, const ManagedVm& managed, std::int64_t epoch) {
  return vm.last && !managed.rests_in(epoch) && !managed.refused_policy && !managed.is_left_alone();
}

std::optional<FoundHome> find_cpu_subset(const VmRecord& vm, std::size_t index,
                                         const Topology& topology, ManagedVm& managed) {
  const ClientRecord& client = vm.clients[index];
  const std::vector<CpuId> cpus = common_pin(vm, client);
  if (cpus.empty() || !managed.original || !was_ordered(*managed.original, client, cpus)) {
    return std::nullopt;
  }
  FoundHome found{client.pinned_to, NodeId{}};
  if (found.home.value < 0) {
    const auto remembered = managed.remembered_homes.find(static_cast<std::int32_t>(index));
    const NodeId home =
        remembered == managed.remembered_homes.end() ? NodeId{} : remembered->second;
    const std::vector<NodeId> nodes = topology.nodes_of(cpus);
    if (nodes.size() != 2) {
      return std::nullopt;
    }
    const NodeId lives_on =
        nodes[0] == home || nodes[1] == home ? home : with_most_memory(vm, topology, nodes);
    found = {lives_on, nodes[0] == lives_on ? nodes[1] : nodes[0]};
  }
  VmCpus& given = managed.cpu_subset ? *managed.cpu_subset : managed.cpu_subset.emplace();
  given.clients.resize(vm.clients.size());
  given.clients[index] = cpus;
  given.reach = vm.description.emulator_pin;
  return found;
}

void record_cpu_subset(const Action& action, const VmRecord& vm, const Topology& topology,
                       const CpuPins& pins, ManagedVm& managed) {
  const VmId& id = vm.description.id;
  const VmCpus whole = whole_homes(vm, topology);
  const auto wanted = pins.subsets.find(id);
  const VmCpus& after = wanted == pins.subsets.end() ? whole : wanted->second;
  VmCpus given = whole;
  if (managed.cpu_subset && managed.cpu_subset->clients.size() == whole.clients.size()) {
    given = *managed.cpu_subset;
  }
  for (const Relocation& relocation : action.relocations) {
    const auto index = static_cast<std::size_t>(relocation.client.index);
    if (relocation.client.vm == id && index < given.clients.size()) {
      given.clients[index] = after.clients[index];
      given.reach = after.reach;
    }
  }
  if (given == whole) {
    managed.cpu_subset.reset();
  } else {
    managed.cpu_subset = std::move(given);
  }
}

std::vector<Action> cpu_assignments(const Snapshot& snapshot, const Ledger& ledger,
                                    const ManagedVms& vms, const CpuPins& pins) {
  std::vector<Action> actions;
  for (const VmState& state : snapshot.vms) {
    const VmRecord* vm = ledger.find(state.id);
    const ManagedVm& managed = vms.of(state.id);
    const auto wanted = pins.subsets.find(state.id);
    const bool same =
        wanted == pins.subsets.end() ? !managed.cpu_subset : managed.cpu_subset == wanted->second;
    if (same || vm == nullptr || !may_be_pinned(*vm, managed, snapshot.epoch)) {
      continue;
    }
    Action action{Reason::kCpuAssignment, {}, {}};
    for (std::size_t index = 0; index < vm->clients.size(); ++index) {
      const ClientRecord& client = vm->clients[index];
      const auto home = ledger.topology().index_of(client.home);
      if (client.moving || !home) {
        action.relocations.clear();
        break;
      }
      action.relocations.push_back(
          {{state.id, static_cast<std::int32_t>(index)}, *home, *home, {}});
    }
    if (!action.relocations.empty()) {
      actions.push_back(std::move(action));
    }
  }
  return actions;
}

void count_exclusive_cores(const CpuPins& pins, Ledger& ledger) {
  for (const auto& [id, vm] : ledger.vms()) {
    for (std::size_t index = 0; index < vm.clients.size(); ++index) {
      const ClientId client{id, static_cast<std::int32_t>(index)};
      const auto cores = pins.exclusive_cores.find(client);
      const std::int32_t count = cores == pins.exclusive_cores.end() ? 0 : cores->second;
      if (count != vm.clients[index].exclusive_cores) {
        ledger.set_exclusive_cores(client, count);
      }
    }
  }
}

}  // namespace vmnuma::balancer
