// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/controller_state.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/far_memory.h"
#include "balancer/core/what_if.h"
#include "placement/model/suggest.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

/// Updates where the client lives and runs, according to orders given since the snapshot was made.
/// Its memory has only just begun to move.
void take_up(const ClientRecord& record, const Topology& topology, ClientState& client) {
  client.moving = record.moving;
  const std::optional<NodeIndex> home = topology.index_of(record.home);
  if (!home) {
    return;
  }
  client.spills_to = topology.index_of(record.spills_to).value_or(kNoNode);
  if (client.home != *home) {
    client.home = *home;
    client.came_from = topology.index_of(record.came_from).value_or(kNoNode);
    client.epochs_here = record.epochs_here;
    client.epochs_since_swap = record.epochs_since_swap;
  }
}

/// True if the VM's clients are still those of the snapshot; they may have been regrouped since.
bool has_clients_of(const Snapshot& snapshot, const VmState& state, const VmRecord& vm) {
  const auto clients = clients_of(snapshot, state);
  return std::equal(clients.begin(), clients.end(), vm.clients.begin(), vm.clients.end(),
                    [](const ClientState& client, const ClientRecord& record) {
                      return client.vcpus == record.shape.vcpus;
                    });
}

}  // namespace

ControllerState::ControllerState(ControllerSetup start)
    : setup(std::move(start)),
      ledger(setup.topology, setup.options),
      orders(setup.last_action),
      memory(std::exchange(setup.memory_originals, {})),
      starts(std::exchange(setup.expected, {})),
      reservations(std::exchange(setup.reservations, {})) {
  last.snapshot.topology = setup.topology;
  ledger.set_local_read_ns(read_time_of_counters(setup.measured_memory, setup));
  ledger.set_reserved_memory(setup.reserved_memory);
  vms.set_each(&ManagedVm::original, std::exchange(setup.originals, {}));
  vms.set_each(&ManagedVm::released, std::exchange(setup.released, {}));
  vms.set_remembered_homes(std::exchange(setup.remembered_homes, {}));
}

std::set<VmId> ControllerState::running_vms() const {
  std::set<VmId> ids(unreadable.begin(), unreadable.end());
  for (const auto& [id, vm] : ledger.vms()) {
    ids.insert(id);
  }
  return ids;
}

void ControllerState::options_changed() {
  ledger.set_local_read_ns(read_time_of_counters(setup.measured_memory, setup));
  ledger.set_options(setup.options);
}

CpuPins ControllerState::cpu_pins(const std::vector<Relocation>& relocations) const {
  return find_cpu_pins(ledger, relocations, vms.each(&ManagedVm::cpu_subset), vms.left_alone());
}

Snapshot ControllerState::since_the_plan() const {
  Snapshot snapshot = last.snapshot;
  for (VmState& state : snapshot.vms) {
    const VmRecord* vm = ledger.find(state.id);
    if (vm == nullptr) {
      leave_alone(state, "it has ended");
      continue;
    }
    leave_alone(state, vms.of(state.id).why_left_alone(snapshot.epoch));
    if (!vm->last || !has_clients_of(snapshot, state, *vm)) {
      leave_alone(state, vm->last ? "its vCPUs were divided into clients anew"
                                  : "it has not been measured since it was restarted");
      continue;
    }
    state.transferring = vm->transferring;
    for (ClientState& client : clients_of(snapshot, state)) {
      take_up(vm->clients[static_cast<std::size_t>(client.id.index)], snapshot.topology, client);
    }
  }
  return snapshot;
}

HostNow ControllerState::host_now() const {
  Snapshot snapshot = is_epoch_measured() ? since_the_plan() : last.snapshot;
  for (const VmState& state : last.snapshot.vms) {
    if (ledger.find(state.id) == nullptr) {
      remove_vm(snapshot, state.id);
    }
  }
  return {setup, ledger, std::move(snapshot), last.last_placed_on, last.wall_unix_s, reservations};
}

Result<const VmRecord*> ControllerState::find_vm(const std::string& name_or_uuid) const {
  // A VM's name may be the UUID of another one.
  if (const Result<VmId> id = parse_vm_id(name_or_uuid)) {
    if (const VmRecord* vm = ledger.find(*id)) {
      return vm;
    }
  }
  std::vector<std::string_view> names;
  for (const auto& [id, vm] : ledger.vms()) {
    if (vm.description.name == name_or_uuid) {
      return &vm;
    }
    names.push_back(vm.description.name);
  }
  return failure(ErrorCode::kNotFound, fmt::format("there is no running VM '{}'{}", name_or_uuid,
                                                   did_you_mean(name_or_uuid, names)));
}

void ControllerState::steer_memory(Effects& effects) {
  if (acts()) {
    memory.steer(setup, ledger, vms, Guarantees(setup, ledger, starts.starting()), effects);
  }
}

}  // namespace vmnuma::balancer
