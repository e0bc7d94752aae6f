// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/orders.h"

#include <algorithm>
#include <map>

#include "balancer/controller/orders_under_way.h"
#include "balancer/controller/originals.h"
#include "placement/base/mapped.h"

namespace vmnuma::balancer {

using migration::Order;
using migration::PinChange;
using migration::VmChange;

namespace {

/// The future homes of the VM's clients.
std::vector<NodeIndex> homes_after(const Snapshot& snapshot, const VmState& vm,
                                   const std::vector<Relocation>& relocations) {
  std::vector<NodeIndex> homes = mapped(clients_of(snapshot, vm), &ClientState::home);
  for (const Relocation& relocation : relocations) {
    homes[static_cast<std::size_t>(relocation.client.index)] = relocation.to;
  }
  return homes;
}

void add_pins(const VmRecord& vm, const std::vector<Relocation>& relocations, const VmCpus& cpus,
              bool stays_home, VmChange& change) {
  for (const Relocation& relocation : relocations) {
    if (relocation.from == relocation.to && !stays_home) {
      continue;
    }
    const auto client = static_cast<std::size_t>(relocation.client.index);
    for (const std::int32_t vcpu : vm.clients[client].shape.vcpus) {
      change.pins.push_back({PinChange::Thread::kVcpu, vcpu,
                             pinned_cpus(vm.description.vcpu_pins, vcpu), cpus.clients[client]});
    }
  }
  if (change.pins.empty()) {
    return;
  }
  change.pins.push_back({PinChange::Thread::kEmulator, 0, vm.description.emulator_pin, cpus.reach});
  for (const std::int32_t io_thread : vm.description.io_threads) {
    change.pins.push_back({PinChange::Thread::kIoThread, io_thread,
                           pinned_cpus(vm.description.io_thread_pins, io_thread), cpus.reach});
  }
  if (stays_home) {
    std::erase_if(change.pins, [](const PinChange& pin) { return pin.before == pin.after; });
  }
  for (PinChange& pin : change.pins) {
    if (pin.before.empty()) {
      pin.before = vm.description.advised_cpus;
    }
  }
}

/// The homes of the VM's cells; empty unless every cell belongs to one client, and the homes
/// differ.
std::vector<migration::CellHome> cell_homes(const Snapshot& snapshot, const VmRecord& vm,
                                            const std::vector<NodeIndex>& homes) {
  std::vector<migration::CellHome> cells;
  for (const GuestCell& cell : vm.description.cells) {
    NodeId node;
    std::size_t owners = 0;
    for (std::size_t index = 0; index < homes.size(); ++index) {
      const auto& owned = vm.clients[index].shape.cells;
      if (std::ranges::find(owned, cell.id) != owned.end()) {
        node = snapshot.topology.id_of(homes[index]);
        ++owners;
      }
    }
    if (owners != 1) {
      return {};
    }
    cells.push_back({cell.memory, node});
  }
  const bool apart = std::ranges::any_of(
      cells, [&](const migration::CellHome& cell) { return cell.node != cells.front().node; });
  return apart ? cells : std::vector<migration::CellHome>{};
}

/// How much of the client's memory should be at home. If a client stays where it is, remote memory
/// of its own that finds no room must not keep another client of the VM from moving.
Bytes quota_of(const Snapshot& snapshot, const ClientState& client, NodeIndex home) {
  const bool is_ordinary = page_size_of(snapshot, client) == Bytes{};
  if (home != client.home || !is_ordinary || home >= client.memory.size()) {
    return client.memory_size;
  }
  const NodeState& node = snapshot.nodes[home];
  return std::min(client.memory_size,
                  client.memory[home] + std::max(node.free - node.reserve, Bytes{}));
}

void add_memory(const Snapshot& snapshot, const VmState& state, const VmRecord& vm,
                const std::vector<NodeIndex>& homes, VmChange& change) {
  if (!state.memory_stays_because.empty()) {
    return;
  }
  std::map<NodeId, Bytes> quotas;
  for (const ClientState& client : clients_of(snapshot, state)) {
    const NodeIndex home = homes[static_cast<std::size_t>(client.id.index)];
    if (home == kNoNode || !client.memory_known) {
      return;
    }
    quotas[snapshot.topology.id_of(home)] += quota_of(snapshot, client, home);
  }
  const VmDescription& described = vm.description;
  // The nodes that libvirt was advised for the start do not limit the VM later.
  const bool advised = described.numatune == NumatuneMode::kRestrictive &&
                       described.numatune_auto &&
                       !std::ranges::all_of(quotas, [&](const auto& quota) {
                         const auto& nodes = described.numatune_nodes;
                         return std::ranges::find(nodes, quota.first) != nodes.end();
                       });
  if (change.memory_mode == MemoryMode::kMask) {
    change.memory.allowed_before = described.numatune_nodes;
  } else if (change.memory_mode == MemoryMode::kSoft && advised) {
    change.memory.allowed_before = described.numatune_nodes;
    change.memory.allowed_after = nodes_with_memory(snapshot.topology);
  }
  for (const auto& [node, bytes] : quotas) {
    change.memory.quotas.push_back({node, bytes});
  }
  change.memory.cells = cell_homes(snapshot, vm, homes);
}

}  // namespace

Order make_order(std::int64_t number, const Action& action, const Snapshot& snapshot,
                 const Ledger& ledger, const std::map<VmId, VmCpus>& cpu_subsets) {
  const bool stays_home = changes_cpus_only(action.reason);
  Order order{number, snapshot.epoch, action.reason, {}, action.predicted};
  for (const VmId& id : vms_of(action)) {
    const VmRecord* vm = ledger.find(id);
    const VmState* state = find_vm(snapshot, id);
    if (vm == nullptr || !vm->last || state == nullptr) {
      continue;
    }
    std::vector<Relocation> relocations;
    for (const Relocation& relocation : action.relocations) {
      if (relocation.client.vm == id) {
        relocations.push_back(relocation);
      }
    }
    VmChange change = empty_change(vm->description, vm->last->process);
    for (const Relocation& relocation : relocations) {
      if (relocation.from != relocation.to || stays_home) {
        change.homes.push_back({relocation.client.index, snapshot.topology.id_of(relocation.from),
                                snapshot.topology.id_of(relocation.to),
                                snapshot.topology.id_of(relocation.spills_to)});
      }
    }
    const std::vector<NodeIndex> homes = homes_after(snapshot, *state, relocations);
    const auto subset = cpu_subsets.find(id);
    const VmCpus cpus =
        subset == cpu_subsets.end() ? whole_nodes(homes, snapshot.topology) : subset->second;
    add_pins(*vm, relocations, cpus, stays_home, change);
    // An order without memory leaves the transfers of the previous one running.
    if (!stays_home) {
      add_memory(snapshot, *state, *vm, homes, change);
    }
    if (!stays_home || !change.pins.empty()) {
      order.changes.push_back(std::move(change));
    }
  }
  return order;
}

}  // namespace vmnuma::balancer
