// SPDX-License-Identifier: Apache-2.0
// The part of views.h about the whole host.
#include <array>
#include <optional>
#include <utility>

#include "balancer/controller/views.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using migration::ActionState;

namespace {

CpuTotalView total_view(const CpuTotal& total) {
  return {milliseconds(total.used), milliseconds(total.ready), milliseconds(total.entitled),
          milliseconds(total.owed)};
}

void show_cpu_time(const NodeState& state, NodeView& view) {
  view.capacity_ms = milliseconds(state.capacity);
  view.non_vm_ms = milliseconds(state.non_vm);
  view.used_ms = milliseconds(state.used);
  view.demand_ms = milliseconds(state.demand);
  view.entitled_ms = milliseconds(state.entitled);
  view.owed_ms = milliseconds(state.owed);
  if (const CpuTime whole = state.threads; whole > CpuTime{}) {
    // The load average is relative to what remains after other load and idle cores set aside for
    // one client.
    const CpuTime left = whole - state.non_vm - state.set_aside;
    const CpuTime wanted = scaled(left, state.load_average.value, 1000);
    view.vm_load_pct = (wanted.value * 100 + whole.value / 2) / whole.value;
    view.non_vm_pct = (state.non_vm.value * 100 + whole.value / 2) / whole.value;
  }
  if (state.capacity > CpuTime{}) {  // otherwise there is nothing to relate it to
    view.load_pct = state.load_average.value / 10;
  }
}

NodeView node_view(const Snapshot& snapshot, NodeIndex index, const Totals& totals) {
  const Topology& topology = snapshot.topology;
  const Node& node = topology.nodes[index];
  NodeView view;
  view.node = node.id;
  view.cores = node.core_count();
  view.cpus = node.cpu_count();
  for (NodeIndex other = 0; other < topology.nodes.size(); ++other) {
    view.distances.push_back(topology.distance(index, other));
  }
  view.memory_bytes = node.memory.value;
  view.known = index < snapshot.nodes.size();
  if (view.known) {
    const NodeState& state = snapshot.nodes[index];
    view.known = state.known;
    view.vcpus = state.vcpus;
    if (state.cpu_measured) {
      show_cpu_time(state, view);
    }
    if (state.memory_read) {
      view.memory_bytes = state.total.value;
      view.free_bytes = state.free.value;
      view.reserve_bytes = state.reserve.value;
      view.reservation_bytes = sum_of(state.reservations, &PagesOfSize::memory).value;
    }
  }
  const NodeTotal total = totals.of(node.id);
  view.capacity_total_ms = milliseconds(total.capacity);
  view.non_vm_total_ms = milliseconds(total.non_vm);
  view.total = total_view(total.clients);
  return view;
}

std::int64_t moves_of(const MigrationCounts& counts) {
  return counts.balance + counts.load_swap + counts.locality + counts.locality_swap +
         counts.long_term + counts.administrator;
}

VmClientView client_view(const Snapshot& snapshot, const ClientState& client, const VmRecord* vm,
                         const Totals& totals) {
  VmClientView view;
  view.index = client.id.index;
  view.vcpus = client.vcpu_count();
  view.moving = client.moving;
  if (snapshot.vms[client.vm].cpu_measured) {
    view.used_ms = milliseconds(client.used);
    view.ready_ms = milliseconds(client.ready);
    view.demand_ms = milliseconds(client.demand);
    view.entitled_ms = milliseconds(client.entitled);
    view.owed_ms = milliseconds(client.owed);
  }
  view.size_bytes = client.memory_size.value;
  Bytes resident;
  for (NodeIndex node = 0; client.memory_known && node < client.memory.size(); ++node) {
    view.memory_bytes.push_back(client.memory[node].value);
    resident += client.memory[node];
  }
  if (client.home != kNoNode) {
    view.home = snapshot.topology.nodes[client.home].id;
    if (client.home < view.memory_bytes.size() && resident > Bytes{}) {
      view.locality_pct =
          percent(permille_of(view.memory_bytes[client.home], resident.value, {1000}));
    }
  }
  const auto index = static_cast<std::size_t>(client.id.index);
  if (vm != nullptr && index < vm->clients.size()) {
    view.moves = moves_of(vm->clients[index].counts);
  }
  view.total = total_view(totals.of(client.id));
  return view;
}

}  // namespace

HostView host_view(const Snapshot& snapshot, const Ledger& ledger, const Totals& totals) {
  HostView view;
  view.epoch = snapshot.epoch;
  view.epoch_length_ms = epoch_length_ms(snapshot, ledger.options());
  view.lost_total_ms = milliseconds(totals.lost());
  view.moved_bytes = totals.moved().value;
  for (const Reason reason : kValuesOf<Reason>) {
    for (const ActionState state : kValuesOf<ActionState>) {
      view.actions.push_back({std::string(name_of(reason)), std::string(name_of(state)),
                              totals.actions(reason, state)});
    }
  }
  for (NodeIndex node = 0; node < snapshot.topology.nodes.size(); ++node) {
    view.nodes.push_back(node_view(snapshot, node, totals));
  }
  for (const VmState& vm : snapshot.vms) {
    VmView row;
    row.vm = vm.name;
    row.vm_uuid = to_text(vm.id);
    row.managed = vm.fresh;
    row.not_managed = vm.fresh ? "" : vm.stale_because;
    row.transferring = vm.transferring;
    const VmRecord* record = ledger.find(vm.id);
    if (record != nullptr && record->last) {
      row.weight = vm.weight;
    }
    row.owner = record == nullptr ? "" : owner_of(record->description);
    for (std::size_t i = 0; record != nullptr && i < record->description.pci_devices.size(); ++i) {
      row.pci_devices.push_back(record->description.pci_devices[i].address);
    }
    row.figures = vm.figures;
    for (const ClientState& client : clients_of(snapshot, vm)) {
      row.clients.push_back(client_view(snapshot, client, record, totals));
    }
    view.vms.push_back(std::move(row));
  }
  return view;
}

}  // namespace vmnuma::balancer
