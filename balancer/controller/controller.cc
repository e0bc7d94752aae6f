// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/controller.h"

#include <algorithm>

#include <fmt/format.h>

#include "balancer/controller/cpu_pins.h"
#include "balancer/controller/orders.h"
#include "balancer/controller/views.h"
#include "balancer/core/validator.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

using migration::ActionEvent;
using placement::Action;
using placement::ClientId;
using placement::CpuId;
using placement::kNoNode;
using placement::NodeId;
using placement::NodeIndex;
using placement::Permille;
using placement::Reason;
using placement::Relocation;
using placement::Snapshot;
using placement::VmId;
using placement::VmState;

namespace {

/// How long a VM rests after its first failed action; doubles with each further one.
constexpr std::int64_t kFirstRest = 5;
constexpr std::int64_t kLongestRest = 300;
/// As a source that is missing, when a plan breaks a rule.
constexpr const char* kPlanner = "planner";

bool is_failure(const ActionEvent& event) {
  return event.state == migration::ActionState::kUndone;
}

std::vector<VmId> vms_of(const Action& action) {
  std::vector<VmId> vms;
  for (const Relocation& relocation : action.relocations) {
    if (std::find(vms.begin(), vms.end(), relocation.client.vm) == vms.end()) {
      vms.push_back(relocation.client.vm);
    }
  }
  return vms;
}

}  // namespace

Controller::Controller(ControllerSetup setup)
    : setup_(std::move(setup)),
      ledger_(setup_.topology, setup_.options),
      memory_steering_(std::move(setup_.memory_originals)),
      next_action_(setup_.last_action + 1) {
  snapshot_.topology = setup_.topology;
  ledger_.set_reserved_memory(setup_.reserved_memory);
  starting_.restore(std::move(setup_.expected));
}

Mode Controller::mode() const {
  if (paused_) {
    return Mode::kPaused;
  }
  return missing_.empty() ? setup_.mode : Mode::kDegraded;
}

bool Controller::reaches_vms() const {
  return setup_.mode == Mode::kActive && !missing_.contains("libvirt") &&
         !missing_.contains("executor");
}

bool Controller::acts() const {
  return reaches_vms() && !paused_;
}

Effects Controller::on(const Event& event) {
  Effects effects;
  std::visit([&](const auto& concrete) { handle(concrete, effects); }, event);
  return effects;
}

// ---- what is known ----

void Controller::handle(const DomainsChanged& event, Effects& effects) {
  std::vector<VmId> known;
  for (const auto& [id, vm] : ledger_.vms()) {
    known.push_back(id);
  }
  running_ = event.running;
  const Groups before = groups();
  apply_domains(effects);
  note_regrouped(before);
  for (const VmId& id : known) {
    if (ledger_.find(id) == nullptr) {
      foreign_.erase(id);
      outdated_.erase(id);
      narrow_.erase(id);
      repairs_.erase(id);
      rests_.erase(id);
      settled_since_.erase(id);
      setup_.originals.erase(id);
      std::erase_if(why_here_, [&](const auto& entry) { return entry.first.vm == id; });
      std::erase_if(setup_.remembered_homes,
                    [&](const auto& entry) { return entry.first.vm == id; });
    }
  }
  end_releases(effects);
  forget_memory_of_ended(effects);
  for (const auto& [id, vm] : ledger_.vms()) {
    if (std::find(known.begin(), known.end(), id) == known.end()) {
      ledger_.set_suggested(id, starting_.appeared(vm.description));
      adopt_homes(id, effects);
    }
  }
}

void Controller::handle(const ConfigChanged& event, Effects& effects) {
  const bool begins_to_act = event.mode == Mode::kActive && setup_.mode != Mode::kActive;
  const Groups before = groups();
  setup_.mode = event.mode;
  setup_.options = event.options;
  setup_.origins = event.origins;
  setup_.policies = event.policies;
  setup_.metadata_wins = event.metadata_wins;
  setup_.repairs_pins = event.repairs_pins;
  setup_.strategy = event.strategy;
  setup_.notices = event.notices;
  setup_.admission = event.admission;
  setup_.reserved_memory = event.reserved_memory;
  ledger_.set_reserved_memory(event.reserved_memory);
  ledger_.set_options(event.options);
  take_measured_stall();
  effects.options = setup_.options;
  apply_domains(effects);
  note_regrouped(before);
  if (begins_to_act) {
    find_homes_again(effects);
  }
  effects.log.push_back({Severity::kNotice,
                         fmt::format("configuration read again, mode is {}", name_of(mode())),
                         {}});
}

void Controller::handle(const SourceChanged& event, Effects& effects) {
  const auto known = missing_.find(event.source);
  if (event.reason.empty()) {
    if (known != missing_.end()) {
      missing_.erase(known);
      effects.log.push_back({Severity::kNotice, fmt::format("'{}' works again", event.source), {}});
    }
    return;
  }
  if (known == missing_.end()) {
    effects.log.push_back(
        {Severity::kWarning,
         fmt::format("'{}' is missing: {}, going on without it", event.source, event.reason),
         {}});
    missing_[event.source] = {event.reason, event.wall_unix_s};
  } else {
    known->second.reason = event.reason;
  }
}

// ---- the epoch ----

/// Moving pages needs free ones on the target, and bandwidth: not while others wait for memory.
void Controller::heed_memory_pressure(const placement::Sample& sample, Effects& effects) {
  const auto is_high = [this](std::int64_t now, std::int64_t most) {
    return memory_pressure_ ? now * 2 > most : now > most;
  };
  const std::int64_t waiting = sample.memory_pressure.value_or(Permille{}).value;
  std::int64_t reclaims = 0;
  if (sample.direct_reclaims && direct_reclaims_) {
    const std::int64_t elapsed_us =
        std::max<std::int64_t>((sample.taken_at - reclaims_read_at_).value, 1'000);
    reclaims = (*sample.direct_reclaims - *direct_reclaims_) * 1'000'000 / elapsed_us;
  }
  direct_reclaims_ = sample.direct_reclaims;
  reclaims_read_at_ = sample.taken_at;
  const placement::Options& options = setup_.options;
  const bool they_wait = is_high(waiting, options.page_mig_pressure_max * 10);
  const bool high = they_wait || is_high(reclaims, options.page_mig_reclaim_max);
  if (high == memory_pressure_) {
    return;
  }
  memory_pressure_ = high;
  effects.memory_pressure = high;
  std::string message = "page migration goes on: the pressure on memory is over";
  if (high && they_wait) {
    message = fmt::format(
        "page migration rests: some task waits for memory {} % of the time "
        "(Numa.PageMigPressureMax is {})",
        waiting / 10, options.page_mig_pressure_max);
  } else if (high) {
    message = fmt::format(
        "page migration rests: tasks have to free memory themselves {} times a second "
        "(Numa.PageMigReclaimMax is {})",
        reclaims, options.page_mig_reclaim_max);
  }
  effects.log.push_back({Severity::kNotice, std::move(message), {}});
}

void Controller::handle(const SampleTaken& event, Effects& effects) {
  now_unix_s_ = event.wall_unix_s;
  late_ = event.late;
  late_most_ = std::max(late_most_, late_);
  const std::vector<std::string> host_sources = [&] {
    std::vector<std::string> sources;
    for (const placement::MissingSource& missing : event.sample.missing) {
      if (!missing.vm) {
        sources.push_back(missing.source);
        handle(SourceChanged{missing.source, missing.reason, now_unix_s_}, effects);
      }
    }
    return sources;
  }();
  std::vector<std::string> back;
  for (const auto& [source, state] : missing_) {
    if (source.starts_with('/') &&
        std::find(host_sources.begin(), host_sources.end(), source) == host_sources.end()) {
      back.push_back(source);
    }
  }
  for (const std::string& source : back) {
    handle(SourceChanged{source, "", now_unix_s_}, effects);
  }

  heed_memory_pressure(event.sample, effects);
  kernel_numa_balancing_ = event.sample.kernel_numa_balancing;
  wakeup_pairs_.reset();
  if (event.sample.wakeups) {
    wakeup_pairs_ = static_cast<std::int64_t>(event.sample.wakeups->size());
  }
  settle_on_only_home();
  count_exclusive_cores();
  snapshot_ = ledger_.advance(event.sample);
  stays_.advance(snapshot_);
  totals_.advance(snapshot_);
  end_releases(effects);
  heed_foreign_pins(effects);
  keep_hands_off(snapshot_);
  host_memory_ = host_memory(setup_.topology, event.sample);
  steer_memory(effects);
  for (const MeasuredOutcome& outcome : outcomes_.settle(snapshot_, setup_.options)) {
    const auto finished = finished_.find(outcome.action);
    if (finished == finished_.end()) {
      continue;
    }
    effects.outcomes.push_back({outcome.action, outcome.before.lost, outcome.after.lost,
                                outcome.before.imbalance, outcome.after.imbalance,
                                outcome.locality_before, outcome.locality_after,
                                finished->second.moved, finished->second.took});
    finished_.erase(finished);
  }
  std::erase_if(finished_, [this](const auto& entry) { return !outcomes_.watches(entry.first); });
  free_from_masks(effects);
  decide(effects);
  assign_cpus(effects);
  forget_started();
  keep_admission_state(effects);
  effects.epoch = EpochEnded{snapshot_, plan_};
}

/// Since the snapshot was made.
bool Controller::has_other_homes(const Snapshot& snapshot, const VmState& vm) const {
  const VmRecord* record = ledger_.find(vm.id);
  for (std::size_t i = 0; record != nullptr && i < vm.client_count; ++i) {
    const NodeIndex home = snapshot.clients[vm.first_client + i].home;
    const NodeId was = home == kNoNode ? NodeId{} : snapshot.topology.nodes[home].id;
    if (record->clients[i].home != was) {
      return true;
    }
  }
  return false;
}

void Controller::keep_hands_off(Snapshot& snapshot) const {
  for (VmState& vm : snapshot.vms) {
    if (vm.fresh && has_other_homes(snapshot, vm)) {
      vm.fresh = false;
      vm.stale_because = "its home changed in this epoch";
    }
    if (setup_.released.contains(vm.id)) {
      vm.fresh = false;
      vm.stale_because = "it was released; 'vmnuma manage' takes it back";
    } else if (const auto refused = refused_.find(vm.id); refused != refused_.end()) {
      vm.fresh = false;
      vm.stale_because = "the policy in its metadata is refused: " + refused->second;
    } else if (const auto foreign = foreign_.find(vm.id); foreign != foreign_.end()) {
      vm.fresh = false;
      vm.stale_because = "it is pinned by somebody else: " + foreign->second;
    } else if (const auto rest = rests_.find(vm.id);
               rest != rests_.end() && rest->second.until_epoch > snapshot.epoch && vm.fresh) {
      vm.fresh = false;
      vm.stale_because = fmt::format("{}; tried again in {} epochs", rest->second.why,
                                     rest->second.until_epoch - snapshot.epoch);
    }
  }
}

void Controller::decide(Effects& effects) {
  const bool breaker_open = outcomes_.breaker_open(snapshot_.epoch);
  if (breaker_open != breaker_was_open_) {
    breaker_was_open_ = breaker_open;
    effects.log.push_back(
        breaker_open
            ? LogLine{Severity::kWarning,
                      fmt::format("moves failed or did harm {} times in a row, moving nothing "
                                  "until epoch {}",
                                  setup_.options.breaker_failures, outcomes_.rests_until()),
                      {}}
            : LogLine{Severity::kNotice, "moving again after a rest", {}});
  }
  placement::Plan previous = std::move(plan_);
  const Circumstances circumstances{last_placed_on_, breaker_open};
  plan_ = setup_.make_plan(snapshot_, setup_.options, circumstances);
  plan_violations_ = violations_of(plan_, snapshot_, setup_.options, circumstances);
  totals_.add_lost(plan_.lost);
  if (refuse_broken_plan(effects)) {
    return;
  }
  for (const Action& action : plan_.actions) {
    if (action.reason == Reason::kInitialPlacement) {
      last_placed_on_ = action.relocations.back().to;
    }
    if (acts()) {
      order(action, effects);
      continue;
    }
    if (setup_.mode != Mode::kObserve &&
        std::find_if(previous.actions.begin(), previous.actions.end(), [&](const Action& earlier) {
          return earlier.reason == action.reason && !earlier.relocations.empty() &&
                 earlier.relocations.front().client == action.relocations.front().client &&
                 earlier.relocations.front().to == action.relocations.front().to;
        }) == previous.actions.end()) {
      effects.log.push_back({Severity::kInfo, "would do " + action_text(snapshot_, action), {}});
    }
    if (action.reason == Reason::kInitialPlacement && setup_.mode != Mode::kActive) {
      assume(action);
    }
  }
}

bool Controller::refuse_broken_plan(Effects& effects) {
  const auto known = missing_.find(kPlanner);
  if (plan_violations_.empty()) {
    if (known != missing_.end()) {
      missing_.erase(known);
      effects.log.push_back({Severity::kNotice, "plans are sound again", {}});
    }
    return false;
  }
  const std::string reason =
      fmt::format("the plan of epoch {} breaks a rule, which is an error in vmnuma itself: {}",
                  plan_.epoch, plan_violations_.front());
  if (known == missing_.end()) {
    effects.log.push_back(
        {Severity::kError,
         fmt::format("{}; nothing of it is carried out, please report this", reason),
         {}});
    missing_[kPlanner] = {reason, now_unix_s_};
  } else {
    known->second.reason = reason;
  }
  plan_.actions.clear();
  return true;
}

void Controller::assume(const Action& action) {
  for (const Relocation& relocation : action.relocations) {
    const NodeId node = snapshot_.topology.nodes[relocation.to].id;
    ledger_.adopt_home(relocation.client, node);
    why_here_[relocation.client] =
        fmt::format("it would be placed here (epoch {})", snapshot_.epoch);
  }
}

void Controller::order(const Action& action, Effects& effects) {
  order(action, cpu_pins(action.relocations), effects);
}

void Controller::order(const Action& action, const CpuPins& pins, Effects& effects) {
  migration::Order order = make_order(next_action_, action, snapshot_, ledger_, pins.narrow);
  if (order.changes.empty()) {
    if (action.reason == Reason::kCpuAssignment) {
      note_given_cpus(action, action.relocations.front().client.vm, pins);  // pinned so already
    }
    return;
  }
  const std::string text = action_text(snapshot_, action);
  note_order(setup_.originals, order);
  UnderWay under_way{action, {}, {}, false, false};
  for (const Relocation& relocation : action.relocations) {
    const VmRecord* vm = ledger_.find(relocation.client.vm);
    under_way.homes_before.emplace_back(
        relocation.client, vm->clients[static_cast<std::size_t>(relocation.client.index)].home);
    if (relocation.from != relocation.to) {
      const NodeId to = snapshot_.topology.nodes[relocation.to].id;
      ledger_.set_home(relocation.client, to, action.reason);
      remember_home(relocation.client, to, effects);
      why_here_[relocation.client] = fmt::format("{} in epoch {}", text, snapshot_.epoch);
    }
  }
  for (const migration::VmChange& change : order.changes) {
    if (!change.pins.empty()) {
      const auto given = narrow_.find(change.vm);
      under_way.narrow_before.emplace_back(
          change.vm, given == narrow_.end() ? std::nullopt : std::optional(given->second));
      note_given_cpus(action, change.vm, pins);
    }
  }
  for (const migration::VmChange& change : order.changes) {
    if (!change.pins.empty()) {
      ledger_.set_moving(change.vm, true);
    }
    if (!change.memory.quotas.empty()) {
      ledger_.transfer_began(change.vm);
    }
  }
  if (action.reason != Reason::kInitialPlacement && action.reason != Reason::kCpuAssignment) {
    outcomes_.began(order.action, action, snapshot_, setup_.options);
  }
  effects.log.push_back({Severity::kInfo,
                         text,
                         {{"ACTION", std::to_string(order.action)},
                          {"REASON", std::string(name_of(action.reason))}}});
  under_way_.emplace(order.action, std::move(under_way));
  effects.orders.push_back(std::move(order));
  ++next_action_;
}

// ---- what became of orders ----

void Controller::handle(const ActionProgressed& progressed, Effects& effects) {
  const ActionEvent& event = progressed.event;
  const auto found = under_way_.find(event.action);
  if (found == under_way_.end()) {
    return;  // of an earlier run of the daemon; its VMs' pins tell what came of it
  }
  UnderWay& under_way = found->second;
  const auto pins_are_made = [&] {
    if (under_way.pinned && !under_way.gives_back) {
      for (const Relocation& relocation : under_way.action.relocations) {
        ledger_.count_move(relocation.client, under_way.action.reason);
      }
    }
    for (const VmId& vm : vms_of(under_way.action)) {
      ledger_.set_moving(vm, false);
      settled_since_[vm] = snapshot_.epoch;
    }
  };
  if (event.kind == ActionEvent::Kind::kPinned) {
    under_way.pinned = true;
    outcomes_.pinned(event.action, snapshot_.epoch);
    pins_are_made();
    return;
  }
  if (event.kind != ActionEvent::Kind::kFinished) {
    return;
  }
  const bool done = event.state == migration::ActionState::kDone;
  totals_.count_action(under_way.action.reason, event.state, event.outcome.moved);
  for (const VmId& vm : vms_of(under_way.action)) {
    const bool superseded =
        std::any_of(under_way_.begin(), under_way_.end(), [&](const auto& other) {
          const std::vector<VmId> vms = vms_of(other.second.action);
          return other.first > event.action && std::find(vms.begin(), vms.end(), vm) != vms.end();
        });
    if (!superseded) {
      ledger_.transfer_ended(vm, event.outcome.moved, event.outcome.left);
    }
  }
  if (!under_way.pinned) {
    under_way.pinned = done;
    pins_are_made();
  }
  if (!done) {
    for (const auto& [client, home] : under_way.homes_before) {
      if (setup_.released.contains(client.vm)) {
        continue;  // it was taken back for that
      }
      const auto node = ledger_.topology().index_of(home);
      if (node && ledger_.topology().can_be_home(*node)) {
        ledger_.adopt_home(client, home);
      } else {
        ledger_.forget_home(client);
      }
      remember_homes(client.vm, effects);
    }
    for (const auto& [vm, given] : under_way.narrow_before) {
      if (!setup_.released.contains(vm) && given) {
        narrow_[vm] = *given;
      } else {
        narrow_.erase(vm);
      }
    }
    for (const VmId& vm : vms_of(under_way.action)) {
      if (under_way.gives_back && setup_.released.erase(vm) > 0) {
        effects.released = setup_.released;  // it is not as it was found, so it is managed on
      }
      Rest& rest = rests_[vm];
      rest.failures = std::min<std::int64_t>(rest.failures + 1, 8);
      rest.until_epoch =
          snapshot_.epoch + std::min(kFirstRest << (rest.failures - 1), kLongestRest);
      rest.why = "its last action failed: " + event.detail;
    }
  } else {
    for (const VmId& vm : vms_of(under_way.action)) {
      rests_.erase(vm);
      if (under_way.gives_back) {
        setup_.originals.erase(vm);
      }
    }
    finished_[event.action] = {event.outcome.moved, event.took};
  }
  const bool settles = done && !under_way.gives_back && !under_way.action.relocations.empty() &&
                       under_way.action.reason != Reason::kInitialPlacement &&
                       under_way.action.reason != Reason::kCpuAssignment;
  outcomes_.ended(event.action, done, is_failure(event), setup_.options, snapshot_.epoch);
  if (!settles) {
    finished_.erase(event.action);
  }
  effects.log.push_back(
      {done ? Severity::kInfo : Severity::kWarning,
       fmt::format("action {} is {}: {}", event.action, name_of(event.state), event.detail),
       {{"ACTION", std::to_string(event.action)}}});
  under_way_.erase(found);
}

void Controller::handle(const LoadsForecast& event, Effects& /*effects*/) {
  ledger_.set_forecasts(event.forecasts);
}

void Controller::handle(const LoadExpected& event, Effects& /*effects*/) {
  ledger_.set_expected_load(event.vm, event.per_vcpu);
}

void Controller::handle(const TransfersReported& event, Effects& /*effects*/) {
  transfers_ = event.transfers;
}

}  // namespace vmnuma::balancer
