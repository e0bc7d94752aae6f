// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/controller_state.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/cpu_control.h"
#include "balancer/controller/far_memory.h"
#include "balancer/core/what_if.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using placement::Action;
using placement::Relocation;
using placement::VmState;

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

void ControllerState::options_changed() {
  ledger.set_local_read_ns(read_time_of_counters(setup.measured_memory, setup));
  ledger.set_options(setup.options);
}

CpuPins ControllerState::cpu_pins(const std::vector<Relocation>& relocations) const {
  return balancer::cpu_pins(ledger, vms, relocations);
}

placement::Snapshot ControllerState::since_the_plan() const {
  placement::Plan made;
  for (const Action& action : last.plan.actions) {
    Action kept{action.reason, {}, {}};
    for (const Relocation& relocation : action.relocations) {
      const VmRecord* vm = ledger.find(relocation.client.vm);
      const auto index = static_cast<std::size_t>(relocation.client.index);
      if (vm != nullptr && index < vm->clients.size() && relocation.from != relocation.to &&
          vm->clients[index].home == last.snapshot.topology.nodes[relocation.to].id) {
        kept.relocations.push_back(relocation);
        kept.relocations.back().memory = placement::Bytes{};  // the move has only just begun
      }
    }
    made.actions.push_back(std::move(kept));
  }
  placement::Snapshot snapshot = after_plan(last.snapshot, made);
  for (VmState& state : snapshot.vms) {
    const VmRecord* vm = ledger.find(state.id);
    if (vm == nullptr) {
      continue;
    }
    state.transferring = vm->transferring;
    for (std::size_t i = 0; i < std::min(state.client_count, vm->clients.size()); ++i) {
      snapshot.clients[state.first_client + i].moving = vm->clients[i].moving;
    }
  }
  return snapshot;
}

HostNow ControllerState::host_now() const {
  return {setup,
          ledger,
          is_epoch_measured() ? since_the_plan() : last.snapshot,
          last.last_placed_on,
          last.wall_unix_s,
          reservations};
}

Result<const VmRecord*> ControllerState::find_vm(const std::string& name_or_uuid) const {
  // A VM may have the UUID of another one as its name.
  if (const Result<placement::VmId> id = placement::parse_vm_id(name_or_uuid)) {
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
  const std::string_view nearest = placement::nearest_name(name_or_uuid, names);
  return failure(ErrorCode::kNotFound,
                 fmt::format("there is no running VM '{}'{}", name_or_uuid,
                             nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

void ControllerState::steer_memory(Effects& effects) {
  if (acts()) {
    memory.steer(setup, ledger, vms, Guarantees(setup, ledger, starts.starting()), effects);
  }
}

}  // namespace vmnuma::balancer
