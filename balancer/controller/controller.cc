// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/controller.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/controller/actions.h"
#include "balancer/controller/commands.h"
#include "balancer/controller/confinement.h"
#include "balancer/controller/cpu_control.h"
#include "balancer/controller/external_pinning.h"
#include "balancer/controller/far_memory.h"
#include "balancer/controller/homes.h"
#include "balancer/controller/reserving.h"
#include "balancer/controller/room_making.h"
#include "balancer/controller/views.h"
#include "balancer/controller/vm_policies.h"
#include "balancer/controller/widening.h"
#include "balancer/core/validator.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

/// True if the VM's homes have changed since the snapshot was made.
bool has_other_homes(const VmRecord* record, const Snapshot& snapshot, const VmState& vm) {
  for (std::size_t i = 0; record != nullptr && i < vm.client_count; ++i) {
    const NodeId was = snapshot.topology.id_of(snapshot.clients[vm.first_client + i].home);
    if (i >= record->clients.size() || record->clients[i].home != was) {
      return true;
    }
  }
  return false;
}

/// Marks VMs that the planner must not touch as stale.
void mark_out_of_bounds(Snapshot& snapshot, const Ledger& ledger, const ManagedVms& vms) {
  for (VmState& vm : snapshot.vms) {
    if (has_other_homes(ledger.find(vm.id), snapshot, vm)) {
      leave_alone(vm, "its home changed in this epoch");
    }
    leave_alone(vm, vms.of(vm.id).why_left_alone(snapshot.epoch));
  }
}

/// True if the action is proposed for the first time. An action that is planned only every few
/// epochs, because it is only due then, counts as one proposal.
bool is_new(Proposals& proposals, const Action& action, std::int64_t epoch) {
  const Relocation& first = action.relocations.front();
  return proposals.insert_or_assign({action.reason, first.client, first.to}, epoch).second;
}

void forget_proposals(Proposals& proposals, const Options& options, std::int64_t epoch) {
  const std::int64_t longest = std::max({options.swap_migrate_only, options.swap_interval,
                                         options.lterm_fairness_interval, std::int64_t{1}});
  std::erase_if(proposals,
                [&](const auto& proposal) { return epoch - proposal.second >= longest; });
}

/// Assumes that VMs live where they would be placed. Used while nothing is ordered.
void assume_homes(const Action& action, const Snapshot& snapshot, Homes& homes) {
  for (const Relocation& relocation : action.relocations) {
    homes.adopt(relocation.client, snapshot.topology.nodes[relocation.to].id,
                fmt::format("it would be placed here (epoch {})", snapshot.epoch));
  }
}

/// Ends the release of VMs that have been started again: they are managed again.
void end_releases(ControllerState& state, Effects& effects) {
  if (!state.ledger.knows_domains()) {
    return;  // libvirt has not reported yet what runs
  }
  const std::set<VmId> running = state.running_vms();
  for (const auto& [id, process] : state.vms.each(&ManagedVm::released)) {
    const VmRecord* vm = state.ledger.find(id);
    if (!running.contains(id) || (vm != nullptr && vm->last && vm->last->process != process)) {
      state.vms[id].released.reset();
      effects.released.emplace();
    }
  }
  if (effects.released) {
    effects.released = state.vms.each(&ManagedVm::released);
  }
}

/// Passes the running VMs and their policies to the ledger.
void apply_domains(ControllerState& state, Effects& effects) {
  state.ledger.set_domains(with_policies(state.setup, state.running));
  record_refused_policies(state.setup, state.running, state.vms, effects);
}

void measure_outcomes(ControllerState& state, Effects& effects) {
  for (const MeasuredOutcome& outcome :
       state.outcomes.settle(state.last.snapshot, state.setup.options)) {
    if (const auto finished = state.orders.take_finished(outcome.action)) {
      effects.outcomes.push_back({outcome, finished->moved, finished->took});
    }
  }
  state.orders.keep_finished(
      [&state](std::int64_t action) { return state.outcomes.watches(action); });
}

void widen_memory_sets(ControllerState& state, Effects& effects) {
  if (!state.acts()) {
    return;
  }
  for (const auto& [id, vm] : state.ledger.vms()) {
    auto change =
        widen_memory_set(vm, state.ledger.topology(), state.last.snapshot.epoch, state.vms[id]);
    if (!change) {
      continue;
    }
    effects.say_of_vm(
        vm.description.name, Severity::kNotice,
        fmt::format("VM '{}' no longer has memory mode mask, its memory may use nodes {}",
                    vm.description.name, to_list(change->memory.allowed_after)));
    give_order(state, UnderWay{.action = {Reason::kAdministrator, {}, {}}}, std::move(*change),
               effects);
  }
}

/// Keeps options that were set until the daemon ends, across a reload of its configuration.
void keep_runtime_options(const Settings& before, Settings& settings) {
  for (const auto& [name, origin] : before.origins) {
    const OptionRow* option = find_option(name);
    if (origin == Origin::kRuntime && option != nullptr) {
      settings.options.*option->value = before.options.*option->value;
      settings.origins[name] = origin;
    }
  }
}

/// Keeps the CPUs that libvirt was advised for VMs. They cannot be read once a VM's threads have
/// pins, so what is known is kept; orders of earlier runs of the daemon contain what they found.
void keep_advised_cpus(const Ledger& ledger, const ManagedVms& vms,
                       std::vector<VmDescription>& running) {
  for (VmDescription& vm : running) {
    if (!vm.placement_auto || !vm.advised_cpus.empty()) {
      continue;
    }
    const VmRecord* known = ledger.find(vm.id);
    const std::optional<Original>& original = vms.of(vm.id).original;
    if (known != nullptr && known->description.domain_id == vm.domain_id) {
      vm.advised_cpus = known->description.advised_cpus;
    } else if (original && !original->threads.empty()) {
      vm.advised_cpus = original->threads.begin()->second.found;  // of a vCPU
    }
  }
}

/// Logs what prevents a transfer from ending, once for each.
void log_problems(const Ledger& ledger, const std::vector<migration::TransferProgress>& before,
                  const std::vector<migration::TransferProgress>& now, Effects& effects) {
  for (const migration::TransferProgress& transfer : now) {
    const bool is_known = std::ranges::any_of(before, [&](const auto& known) {
      return known.action == transfer.action && known.vm == transfer.vm && !known.problem.empty();
    });
    const VmRecord* vm = ledger.find(transfer.vm);
    if (transfer.problem.empty() || is_known || vm == nullptr) {
      continue;
    }
    effects.log.push_back(
        {Severity::kWarning,
         fmt::format("action {} for VM '{}' stays open: {}; it is tried again", transfer.action,
                     vm->description.name, transfer.problem),
         {{"VM", vm->description.name}, {"ACTION", std::to_string(transfer.action)}}});
  }
}

/// True if this is another run of the VM. libvirt numbers a domain's runs; without libvirt there is
/// no such number.
bool is_another_run(const VmDescription& before, const VmDescription& now) {
  return before.domain_id >= 0 && now.domain_id >= 0 && before.domain_id != now.domain_id;
}

}  // namespace

Effects Controller::on(const Event& event) {
  Effects effects;
  std::visit([&](const auto& concrete) { handle(concrete, effects); }, event);
  return effects;
}

ControllerSetup Controller::to_resume() const {
  ControllerSetup setup = state_.setup;
  setup.last_action = state_.orders.next() - 1;
  setup.remembered_homes = state_.vms.remembered_homes();
  setup.originals = state_.vms.each(&ManagedVm::original);
  setup.released = state_.vms.each(&ManagedVm::released);
  setup.reservations = state_.reservations.all();
  setup.memory_originals = state_.memory.originals();
  return setup;
}

Result<Outlook> Controller::outlook() const {
  VMNUMA_RETURN_IF_ERROR(check_is_measured(state_.last.snapshot));
  HostNow now = state_.host_now();
  FreeForVm free = state_.starts.free_for_any(now);
  return Outlook{std::move(now.snapshot), state_.setup.options, state_.circumstances(),
                 std::move(free)};
}

Result<Answer> Controller::answer(const Command& question) const {
  return answer_question(state_, question);
}

// ---- what is known ----

/// A VM that was restarted between two listings counts as having ended first.
void Controller::handle(const DomainsChanged& event, Effects& effects) {
  state_.unreadable = event.unreadable;
  std::vector<VmDescription> going_on = event.running;
  std::erase_if(going_on, [this](const VmDescription& vm) {
    const VmRecord* before = state_.ledger.find(vm.id);
    return before != nullptr && is_another_run(before->description, vm);
  });
  if (going_on.size() < event.running.size()) {
    take_domains(std::move(going_on), effects);
  }
  take_domains(event.running, effects);
}

void Controller::take_domains(std::vector<VmDescription> running, Effects& effects) {
  std::set<VmId> known;
  for (const auto& [id, vm] : state_.ledger.vms()) {
    known.insert(id);
  }
  keep_advised_cpus(state_.ledger, state_.vms, running);
  state_.running = std::move(running);
  const ClientGroups before = client_groups(state_.ledger);
  apply_domains(state_, effects);
  record_regrouped(before, state_.ledger, state_.last.snapshot.epoch, state_.vms);
  end_releases(state_, effects);
  for (const VmId& id : known) {
    if (state_.ledger.find(id) == nullptr) {
      state_.vms.forget(id);
      state_.orders.vm_ended(id);
    }
  }
  state_.memory.forget_ended(state_.running_vms(), effects);
  forget_stopped(state_, effects);
  Homes homes(state_.ledger, state_.vms, effects);
  for (const auto& [id, vm] : state_.ledger.vms()) {
    if (!known.contains(id)) {
      const std::vector<NodeId> told = state_.starts.appeared(vm.description);
      const std::vector<NodeId> reserved =
          take_up_reservations(state_, vm.description, told, effects);
      state_.ledger.set_suggested(id, told.empty() ? reserved : told);
      end_wait_for_room(state_, id, "it runs", effects);
      homes.adopt_found(id, state_.last.snapshot.epoch);
    }
  }
}

void Controller::handle(const ConfigChanged& event, Effects& effects) {
  const bool acted = state_.setup.mode == Mode::kActive;
  const bool begins_to_act = event.mode == Mode::kActive && !acted;
  const ClientGroups before = client_groups(state_.ledger);
  Settings settings = event;
  keep_runtime_options(state_.setup, settings);
  static_cast<Settings&>(state_.setup) = std::move(settings);
  apply_measured_stall(state_.setup.measured_memory, state_.setup);
  state_.ledger.set_reserved_memory(state_.setup.reserved_memory);
  state_.options_changed();
  effects.options = state_.setup.options;
  apply_domains(state_, effects);
  record_regrouped(before, state_.ledger, state_.last.snapshot.epoch, state_.vms);
  if (begins_to_act) {
    Homes(state_.ledger, state_.vms, effects).find_again(state_.last.snapshot.epoch);
  }
  if (acted != (event.mode == Mode::kActive)) {
    effects.pause_transfers = acted || state_.health.is_paused();
  }
  effects.say(Severity::kNotice,
              fmt::format("configuration read again, mode is {}", name_of(mode())));
}

void Controller::handle(const TopologyChanged& event, Effects& effects) {
  ControllerSetup& setup = state_.setup;
  if (event.topology == setup.topology && event.measured == setup.measured_memory) {
    return;
  }
  const bool has_same_nodes = event.topology.nodes == setup.topology.nodes;
  const bool had_only_home = setup.topology.only_home().has_value();
  setup.measured_memory = event.measured;
  setup.topology = event.topology;
  apply_measured_stall(setup.measured_memory, setup);
  state_.ledger.set_topology(setup.topology);
  state_.options_changed();
  if (has_same_nodes) {  // only distances changed: all other knowledge remains valid
    effects.say(Severity::kInfo, "between nodes " + far_memory_text(setup.measured_memory, setup,
                                                                    /*counted=*/std::nullopt));
    return;
  }
  apply_domains(state_, effects);
  state_.last.last_placed_on = kNoNode;
  effects.say(Severity::kNotice, fmt::format("the host's topology changed, it has {} nodes now",
                                             event.topology.nodes.size()));
  record_other_cpus(state_.ledger, state_.last.snapshot.epoch, state_.vms);
  if (had_only_home && !event.topology.only_home()) {
    Homes(state_.ledger, state_.vms, effects).find_again(state_.last.snapshot.epoch);
  }
}

void Controller::handle(const SourceChanged& event, Effects& effects) {
  state_.health.source_changed(event, effects);
}

void Controller::handle(const LoadsForecast& event, Effects& /*effects*/) {
  state_.ledger.set_forecasts(event.forecasts);
}

void Controller::handle(const LoadExpected& event, Effects& /*effects*/) {
  state_.ledger.set_expected_load(event.vm, event.per_vcpu);
}

void Controller::handle(const TransfersReported& event, Effects& effects) {
  log_problems(state_.ledger, state_.last.transfers, event.transfers, effects);
  state_.last.transfers = event.transfers;
}

void Controller::handle(const ActionProgressed& event, Effects& effects) {
  progress_order(state_, event.event, effects);
  record_room_step(state_, event.event, effects);
}

void Controller::handle(const RoomSearched& event, Effects& effects) {
  take_room_search(state_, event, effects);
}

void Controller::handle(const MemoryLimitsSet& event, Effects& effects) {
  state_.memory.answered(event, effects);
}

void Controller::handle(const Stopping& event, Effects& effects) {
  if (!event.restore || !state_.health.reaches_vms(state_.setup.mode)) {
    return;
  }
  effects.pause_transfers = false;  // restoring VMs must not wait
  for (const auto& [id, vm] : state_.ledger.vms()) {
    if (vm.last && !state_.vms.of(id).released) {
      (void)restore_vm(state_, vm, effects);  // logged; they are managed again after the next start
    }
  }
  state_.memory.restore_all_limits(effects);
}

void Controller::handle(const CommandReceived& event, Effects& effects) {
  if (const auto* set = std::get_if<SetRequest>(&event.command)) {
    Result<PolicyWrite> write = state_.find_vm(set->vm).and_then([&](const VmRecord* vm) {
      return policy_write(state_.setup, state_.setup.topology, *vm, *set);
    });
    if (write) {
      write->token = event.token;
      effects.policies.push_back(std::move(*write));  // answered once written
    } else {
      effects.replies.push_back({event.token, tl::unexpected(std::move(write).error())});
    }
    return;
  }
  // Two statements, because a change adds effects itself.
  Result<Answer> reply = changes_something(event.command)
                             ? carry_out_command(state_, event.command, effects)
                             : answer(event.command);
  effects.replies.push_back({event.token, std::move(reply)});
}

// ---- the epoch ----

void Controller::handle(const SampleTaken& event, Effects& effects) {
  take_in(event, effects);
  state_.steer_memory(effects);
  measure_outcomes(state_, effects);
  widen_memory_sets(state_, effects);
  plan_and_act(effects);
  continue_making_room(state_, effects);
  state_.starts.forget_started(state_.ledger, state_.last.snapshot.epoch);
  if (state_.starts.admission_is_due(state_.setup, state_.last.snapshot.epoch)) {
    state_.starts.report_admission(state_.host_now(), effects);
  }
  effects.epoch = EpochEnded{state_.last.snapshot, state_.last.plan};
}

/// Takes in the sample, up to the epoch's snapshot.
void Controller::take_in(const SampleTaken& event, Effects& effects) {
  const Sample& sample = event.sample;
  LastEpoch& last = state_.last;
  const bool is_first = !state_.is_epoch_measured();
  const std::int64_t wall_unix_s_before = std::exchange(last.wall_unix_s, event.wall_unix_s);
  last.late = event.late;
  last.late_most = std::max(last.late_most, last.late);
  last.kernel_numa_balancing = sample.kernel_numa_balancing;
  last.sched_ext = sample.sched_ext;
  last.cache_scheduling = sample.cache_scheduling;
  last.wakeup_pairs.reset();
  if (sample.wakeups) {
    last.wakeup_pairs = static_cast<std::int64_t>(sample.wakeups->size());
  }
  state_.health.sampled(sample.missing, event.wall_unix_s, effects);
  state_.pressure.sampled(sample, state_.setup.options, effects);
  Homes homes(state_.ledger, state_.vms, effects);
  homes.settle_on_only_home();
  record_confined(sample, state_.ledger, state_.vms, homes, effects);
  count_exclusive_cores(state_.cpu_pins({}), state_.ledger);
  last.snapshot = state_.ledger.advance(sample);
  if (!is_first) {
    follow_clock(state_, wall_unix_s_before, effects);
  }
  expire_reservations(state_, effects);
  state_.reservations.keep_in(last.snapshot);
  state_.figures.stays.advance(last.snapshot);
  state_.figures.totals.advance(last.snapshot);
  end_releases(state_, effects);
  const bool acts = state_.acts();
  // While libvirt is unavailable, the pins known are those that it reported last, perhaps before
  // the last order.
  if (state_.health.reaches_vms(state_.setup.mode) && (acts || !state_.setup.repairs_pins)) {
    const bool places = state_.setup.options.rebalance_enable != 0;
    reconcile_external_pinning({state_.setup.repairs_pins, acts, places, last.snapshot.epoch},
                               state_.ledger, state_.vms, homes, effects);
  }
  mark_out_of_bounds(last.snapshot, state_.ledger, state_.vms);
  record_unkept_limits(last.snapshot, state_.vms, effects);
  state_.memory.sampled(state_.setup.topology, sample);
}

/// Makes the plan from the snapshot, and its orders.
void Controller::plan_and_act(Effects& effects) {
  LastEpoch& last = state_.last;
  const Options& options = state_.setup.options;
  const bool breaker_open = state_.outcomes.breaker_open(last.snapshot.epoch);
  if (breaker_open != last.breaker_was_open) {
    last.breaker_was_open = breaker_open;
    if (breaker_open) {
      effects.say(
          Severity::kWarning,
          fmt::format("moves failed or did harm {} times in a row, moving nothing until epoch {}",
                      options.breaker_failures, state_.outcomes.rests_until()));
    } else {
      effects.say(Severity::kNotice, "moving again after a rest");
    }
  }
  const Circumstances circumstances{last.last_placed_on, breaker_open};
  last.plan = state_.setup.make_plan(last.snapshot, options, circumstances);
  last.plan_violations = violations_of(last.plan, last.snapshot, options, circumstances);
  state_.figures.totals.add_lost(last.plan.lost);
  const bool is_sound = last.plan_violations.empty();
  state_.health.planned(last.plan.epoch, is_sound ? "" : last.plan_violations.front(),
                        last.wall_unix_s, effects);
  if (!is_sound) {
    last.plan.actions.clear();
  }
  Homes homes(state_.ledger, state_.vms, effects);
  for (const Action& action : last.plan.actions) {
    const bool is_placement = action.reason == Reason::kInitialPlacement;
    if (is_placement) {
      last.last_placed_on = action.relocations.back().to;
    }
    if (state_.acts()) {
      give_order(state_, action, effects);
      continue;
    }
    if (state_.setup.mode != Mode::kObserve &&
        is_new(state_.figures.proposals, action, last.snapshot.epoch)) {
      say_would_do(state_, action, effects);
    }
    if (is_placement && state_.setup.mode != Mode::kActive) {
      assume_homes(action, last.snapshot, homes);
    }
  }
  forget_proposals(state_.figures.proposals, options, last.snapshot.epoch);
  if (state_.acts()) {
    state_.ledger.record_spills(last.plan.spills, last.snapshot.epoch_length);
    if (state_.setup.options.rebalance_enable == 0) {
      return;
    }
    const CpuPins pins = state_.cpu_pins({});
    for (const Action& action : cpu_assignments(last.snapshot, state_.ledger, state_.vms, pins)) {
      give_order(state_, action, pins, effects);
    }
  }
}

}  // namespace vmnuma::balancer
