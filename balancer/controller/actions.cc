// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/actions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/cpu_control.h"
#include "balancer/controller/homes.h"
#include "balancer/controller/orders.h"
#include "balancer/controller/views.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using migration::ActionEvent;

namespace {

/// How long a VM rests after its first failed action; doubles with each further one.
constexpr std::int64_t kFirstRest = 5;
constexpr std::int64_t kLongestRest = 300;

bool is_placement(Reason reason) {
  return reason == Reason::kInitialPlacement || changes_cpus_only(reason);
}

/// A log line with those of the action's VMs that are known.
LogLine about_action(const Action& action, const Ledger& ledger, Severity severity,
                     std::string message) {
  LogLine line{severity, std::move(message), {}};
  for (const VmId& id : vms_of(action)) {
    if (const VmRecord* vm = ledger.find(id); vm != nullptr) {
      line.fields.emplace("VM", vm->description.name);
    }
  }
  return line;
}

/// The same with the action's number.
LogLine about_order(std::int64_t number, const Action& action, const Ledger& ledger,
                    Severity severity, std::string message) {
  LogLine line = about_action(action, ledger, severity, std::move(message));
  line.fields.emplace("ACTION", std::to_string(number));
  return line;
}

/// Updates homes and CPUs as if the order had been carried out.
UnderWay record_given_order(ControllerState& state, const Action& action,
                            const migration::Order& order, const CpuPins& pins, Effects& effects) {
  const Snapshot& snapshot = state.last.snapshot;
  const std::string text = action_text(snapshot, action);
  Homes homes(state.ledger, state.vms, effects);
  UnderWay under_way{.action = action};
  for (const Relocation& relocation : action.relocations) {
    const ClientId& client = relocation.client;
    const ClientRecord& record =
        state.ledger.find(client.vm)->clients[static_cast<std::size_t>(client.index)];
    const bool changes_home = relocation.from != relocation.to;
    const bool changes_spill =
        action.reason == Reason::kSpill || action.reason == Reason::kInitialPlacement;
    if (changes_home || changes_spill) {  // a new home ends its spill
      under_way.spills_before.emplace_back(client, record.spills_to);
    }
    if (changes_home) {
      under_way.homes_before.emplace_back(client, record.home);
      const NodeId to = snapshot.topology.nodes[relocation.to].id;
      state.ledger.set_home(client, to, action.reason);
      homes.remember(client, to);
      state.vms[client.vm].why_here[client.index] =
          fmt::format("{} in epoch {}", text, snapshot.epoch);
    }
    if (changes_spill) {
      state.ledger.set_spill(client, snapshot.topology.id_of(relocation.spills_to));
    }
  }
  for (const migration::VmChange& change : order.changes) {
    ManagedVm& managed = state.vms[change.vm];
    under_way.first_changes[change.vm] =
        record_change(managed.original ? *managed.original : managed.original.emplace(), change);
    if (!change.pins.empty()) {
      under_way.cpu_subsets_before.emplace_back(change.vm, managed.cpu_subset);
      record_cpu_subset(action, *state.ledger.find(change.vm), state.ledger.topology(), pins,
                        managed);
      state.ledger.set_moving(change.vm, true);
    }
    if (!change.memory.quotas.empty()) {
      state.ledger.transfer_began(change.vm);
    }
  }
  return under_way;
}

/// True if the order changes pins of the VM, not only its memory.
bool pins(const UnderWay& order, const VmId& vm) {
  return std::ranges::any_of(order.cpu_subsets_before,
                             [&](const auto& before) { return before.first == vm; });
}

void record_pinned(ControllerState& state, const UnderWay& order) {
  if (order.pinned && !order.restores) {
    for (const Relocation& relocation : order.action.relocations) {
      state.ledger.count_move(relocation.client, order.action.reason);
    }
  }
  for (const VmId& vm : vms_of(order.action)) {
    if (order.restores || pins(order, vm)) {
      state.ledger.set_moving(vm, false);
    }
    state.vms[vm].settled_since = state.last.snapshot.epoch;
  }
}

/// Reverts what record_given_order() updated.
void take_back(ControllerState& state, const UnderWay& order, Effects& effects) {
  Homes homes(state.ledger, state.vms, effects);
  const Topology& topology = state.ledger.topology();
  for (const auto& [client, home] : order.homes_before) {
    if (state.vms.of(client.vm).released) {
      continue;
    }
    const auto node = topology.index_of(home);
    if (node && topology.can_be_home(*node)) {
      state.ledger.restore_home(client, home);
    } else {
      homes.give_up(client);
    }
    homes.remember_homes_of(client.vm);
  }
  for (const auto& [client, node] : order.spills_before) {
    state.ledger.set_spill(client, node);
  }
  for (const auto& [vm, given] : order.cpu_subsets_before) {
    state.vms[vm].cpu_subset = state.vms.of(vm).released ? std::nullopt : given;
  }
}

/// True if the order was dropped for a younger one before it began, which is not a failure.
bool gave_way(const ControllerState& state, const ActionEvent& event, const VmId& vm) {
  return event.state == migration::ActionState::kDropped &&
         state.orders.is_superseded(event.action, vm);
}

/// Lets the VMs rest; undoes a release that this order was for.
void record_failure(ControllerState& state, const ActionEvent& event, const UnderWay& order,
                    Effects& effects) {
  take_back(state, order, effects);
  for (const VmId& vm : vms_of(order.action)) {
    if (gave_way(state, event, vm)) {
      continue;
    }
    ManagedVm& managed = state.vms[vm];
    const auto first = order.first_changes.find(vm);
    if (managed.original && first != order.first_changes.end()) {
      forget_memory_nodes(*managed.original, first->second);  // which follow the pins
      if (event.state == migration::ActionState::kDropped) {
        forget_pins(*managed.original, first->second);
      }
    }
    if (order.restores && managed.released) {
      managed.released.reset();  // it is not as it was found, so it stays managed
      effects.released = state.vms.each(&ManagedVm::released);
    }
    Rest& rest = managed.rest ? *managed.rest : managed.rest.emplace();
    rest.failures = std::min<std::int64_t>(rest.failures + 1, 8);
    rest.until_epoch =
        state.last.snapshot.epoch + std::min(kFirstRest << (rest.failures - 1), kLongestRest);
    rest.why = "its last action failed: " + event.detail;
  }
}

/// A dropped action changed nothing, or its VM ended, which is no failure. But the VM of a dropped
/// release stays pinned.
Severity severity_of_end(const ActionEvent& event, const UnderWay& order) {
  if (event.state == migration::ActionState::kDropped && !order.restores) {
    return Severity::kNotice;
  }
  return event.state == migration::ActionState::kDone && !event.set_failed ? Severity::kInfo
                                                                           : Severity::kWarning;
}

void end_order(ControllerState& state, const ActionEvent& event, UnderWay& order,
               Effects& effects) {
  const bool done = event.state == migration::ActionState::kDone;
  state.figures.totals.count_action(order.action.reason, event.state, event.outcome.moved);
  for (const VmId& vm : vms_of(order.action)) {
    if (!changes_cpus_only(order.action.reason) && !state.orders.is_superseded(event.action, vm)) {
      state.ledger.transfer_ended(vm, event.outcome.moved, event.outcome.left);
    }
  }
  if (!order.pinned) {
    order.pinned = done;
    record_pinned(state, order);
  }
  if (!done) {
    record_failure(state, event, order, effects);
  }
  for (const VmId& vm : done ? vms_of(order.action) : std::vector<VmId>{}) {
    state.vms[vm].rest.reset();
    if (order.restores) {
      state.vms[vm].original.reset();
    }
  }
  const bool is_measured = done && !order.restores && !order.action.relocations.empty() &&
                           !is_placement(order.action.reason);
  if (is_measured) {
    state.orders.await_outcome(event.action, {event.outcome.moved, event.took});
  }
  state.outcomes.ended(event.action, done, event.state == migration::ActionState::kUndone,
                       state.setup.options, state.last.snapshot.epoch);
  effects.log.push_back(about_order(
      event.action, order.action, state.ledger, severity_of_end(event, order),
      fmt::format("action {} is {}: {}", event.action, name_of(event.state), event.detail)));
}

/// If pins that an earlier run of the daemon had half made were taken back, the homes that were
/// read from them are wrong: they are read again.
void record_recovery(ControllerState& state, const ActionEvent& event, Effects& effects) {
  if (event.kind != ActionEvent::Kind::kFinished ||
      event.state != migration::ActionState::kUndone) {
    return;
  }
  Homes homes(state.ledger, state.vms, effects);
  for (const VmId& id : event.vms) {
    state.vms[id].recovered_in = state.last.snapshot.epoch;
    if (const VmRecord* vm = state.ledger.find(id); vm != nullptr) {
      homes.give_up_homes_of(*vm);
    }
  }
}

}  // namespace

void give_order(ControllerState& state, const Action& action, const CpuPins& pins,
                Effects& effects) {
  const Snapshot& snapshot = state.last.snapshot;
  migration::Order order =
      make_order(state.orders.next(), action, snapshot, state.ledger, pins.subsets);
  if (order.changes.empty()) {
    if (changes_cpus_only(action.reason)) {  // the pins are right already
      const VmId& vm = action.relocations.front().client.vm;
      record_cpu_subset(action, *state.ledger.find(vm), state.ledger.topology(), pins,
                        state.vms[vm]);
    }
    return;
  }
  UnderWay under_way = record_given_order(state, action, order, pins, effects);
  if (!is_placement(action.reason)) {
    state.outcomes.began(order.action, action, snapshot, state.setup.options);
  }
  LogLine line = about_order(order.action, action, state.ledger, Severity::kInfo,
                             action_text(snapshot, action));
  line.fields.emplace("REASON", name_of(action.reason));
  effects.log.push_back(std::move(line));
  (void)state.orders.begin(std::move(under_way));  // the number that the order already has
  effects.orders.push_back(std::move(order));
}

std::int64_t give_order(ControllerState& state, UnderWay order, migration::VmChange change,
                        Effects& effects) {
  const std::int64_t number = state.orders.begin(std::move(order));
  effects.orders.push_back({number,
                            state.last.snapshot.epoch,
                            Reason::kAdministrator,
                            {std::move(change)},
                            {.known = false}});
  return number;
}

void say_would_do(const ControllerState& state, const Action& action, Effects& effects) {
  LogLine line = about_action(action, state.ledger, Severity::kInfo,
                              "would do " + action_text(state.last.snapshot, action));
  line.fields.emplace("REASON", name_of(action.reason));
  effects.log.push_back(std::move(line));
}

void progress_order(ControllerState& state, const ActionEvent& event, Effects& effects) {
  UnderWay* order = state.orders.find(event.action);
  if (order == nullptr) {
    record_recovery(state, event, effects);
    return;
  }
  if (event.kind == ActionEvent::Kind::kPinned) {
    order->pinned = true;
    state.outcomes.pinned(event.action, state.last.snapshot.epoch);
    record_pinned(state, *order);
  } else if (event.kind == ActionEvent::Kind::kFinished) {
    end_order(state, event, *order, effects);
    state.orders.end(event.action);
  }
}

DoneView restore_vm(ControllerState& state, const VmRecord& vm, Effects& effects) {
  const VmId id = vm.description.id;
  ManagedVm& managed = state.vms[id];
  const bool is_under_way = state.orders.involves(id);
  if (is_under_way) {
    effects.cancelled.push_back(id);
  }
  const VmProcess process = vm.last->process;
  const Original untouched{process, {}, {}};
  const std::optional<Original> noted = managed.original;
  const Original* original = noted && noted->process == process ? &*noted
                             : state.setup.originals_known      ? &untouched
                                                                : nullptr;
  migration::VmChange change =
      change_to_original(vm.description, *vm.last, original, state.ledger.topology(), is_under_way);
  Homes homes(state.ledger, state.vms, effects);
  UnderWay order{.action = {Reason::kAdministrator, {}, {}}, .restores = true};
  for (std::size_t index = 0; index < vm.clients.size(); ++index) {
    const ClientId client{id, static_cast<std::int32_t>(index)};
    change.homes.push_back({client.index, vm.clients[index].home, NodeId{}});
    order.action.relocations.push_back({client, kNoNode, kNoNode, {}});
    managed.why_here.erase(client.index);
    homes.give_up(client);
  }
  managed.released = process;
  managed.pinned_by_others.reset();
  managed.cpu_subset.reset();
  managed.rest.reset();
  homes.forget_all_of(id);

  DoneView done{fmt::format("VM '{}' is released", vm.description.name), std::nullopt};
  if (original == nullptr) {
    done.message +=
        "; its original pins are not known, so its threads may run on any CPU of the host";
  } else if (change.pins.empty() && change.memory.allowed_after.empty()) {
    done.message += "; it has its original pins again";
  } else {
    done.message +=
        fmt::format("; {} of its threads have their original pins again", change.pins.size());
  }
  if (!change.memory.quotas.empty()) {
    done.message += fmt::format("; its memory is moved back to nodes {} and then limited to them",
                                to_list(change.memory.allowed_after));
    state.ledger.transfer_began(id);
  }
  if (state.memory.has_changed(id)) {
    done.message += "; its memory limits are restored, too";
  }
  if (!change.pins.empty() || !change.memory.allowed_after.empty()) {
    if (!change.pins.empty()) {
      state.ledger.set_moving(id, true);
    }
    done.action = give_order(state, std::move(order), std::move(change), effects);
  }
  effects.say_of_vm(vm.description.name, Severity::kNotice, done.message);
  return done;
}

}  // namespace vmnuma::balancer
