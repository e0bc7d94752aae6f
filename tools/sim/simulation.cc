// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/simulation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vmnuma::tools {

namespace {

/// Returns a VM's load in the minutes before the start, including what QEMU used besides its vCPUs,
/// as in a history.
std::vector<Permille> known_minutes_of(const Scenario& scenario, const ScenarioVm& vm) {
  std::vector<Permille> minutes;
  const std::int64_t all = known_epochs(scenario);
  for (std::int64_t minute = 0; minute < scenario.known_minutes; ++minute) {
    const std::int64_t begin = all * minute / scenario.known_minutes - all;
    const std::int64_t end = all * (minute + 1) / scenario.known_minutes - all;
    std::int64_t sum = 0;
    for (std::int64_t epoch = begin; epoch < end; ++epoch) {
      sum += load_at(vm, epoch);
    }
    const std::int64_t vcpus = sum * 10 / std::max<std::int64_t>(end - begin, 1);
    minutes.push_back(Permille{vcpus * (1000 + vm.qemu.value) / 1000});
  }
  return minutes;
}

}  // namespace

void Simulation::Shares::add(std::optional<Percentage> share) {
  if (share) {
    first_ = count_ == 0 ? *share : first_;
    sum_ += *share;
    ++count_;
    last_ = *share;
  }
}

Course Simulation::Shares::course() const {
  const std::int64_t count = std::max<std::int64_t>(count_, 1);
  return {first_, (sum_ + Percentage{count / 2}) / count, last_};
}

Simulation::Simulation(Scenario scenario, std::unique_ptr<Policy> policy)
    : scenario_(std::move(scenario)),
      host_(scenario_.host, scenario_.seed, scenario_.options.prefer_ht != 0, clock_),
      course_(scenario_, host_),
      daemon_(scenario_.options, scenario_.strategy, host_, clock_),
      policy_(std::move(policy)),
      policy_host_(host_, clock_),
      oracles_(scenario_),
      lives_(scenario_.vms.size()) {}

Simulation::Life* Simulation::life_of(const VmId& vm) {
  const auto life = std::ranges::find(lives_, std::optional(vm), &Life::id);
  return life == lives_.end() ? nullptr : &*life;
}

const ScenarioVm& Simulation::vm(const VmId& id) const {
  const auto life = std::ranges::find(lives_, std::optional(id), &Life::id);
  VMNUMA_CHECK(life != lives_.end());
  return scenario_.vms[static_cast<std::size_t>(life - lives_.begin())];
}

// ---- an epoch ----

void Simulation::run_epoch() {
  news_.clear();
  now_ = course_.time_of(epoch_);
  if (epoch_ == 0) {
    begin_epoch();
    if (!policy_) {
      daemon_.start(now_);
    }
  } else if (daemon_restart_epoch_ == epoch_) {
    daemon_restart_epoch_.reset();
    daemon_.start(now_);
    news_.push_back("the daemon is back");
  }
  tick();
  if (epoch_ > 0) {
    begin_epoch();
  }
  begin_and_end_faults();
  for (std::int64_t i = 1; i <= kIntervalsPerEpoch; ++i) {
    const Microseconds end =
        now_ + (course_.time_of(epoch_ + 1) - now_) / (kIntervalsPerEpoch + 1 - i);
    while (course_.next_strike().value_or(end + Microseconds{1}) <= end) {
      pass(*course_.next_strike());
      strike();
    }
    pass(end);
    if (daemon_.running()) {
      daemon_.refresh_domains();
    }
  }
  listen();
  truth_ = host_.take_truth();
  figures_ = figures_of(truth_);
  take_down();
  record_homes();
  if (!policy_) {
    oracles_.epoch_ended(epoch_, host_, daemon_);
  }
  ++epoch_;
  if (finished() && !policy_) {
    oracles_.simulation_ended(daemon_);
  }
}

void Simulation::pass(Microseconds until) {
  if (daemon_.running()) {
    daemon_.work(until);
  }
  if (policy_) {
    policy_host_.work(until);
  }
  if (until > now_) {
    host_.run(until - now_);
    now_ = until;
  }
}

void Simulation::tick() {
  if (policy_) {
    clock_ = now_;
    policy_host_.read(host_.sample(epoch_ + 1, now_));
    policy_->epoch(policy_host_);
  }
  if (!daemon_.running()) {
    return;
  }
  Sample sample = host_.sample(epoch_ + 1, now_, daemon_.controller().ledger().spilling());
  course_.spoil(epoch_, sample);
  daemon_.refresh_domains();
  daemon_.tick(std::move(sample));
  listen();
}

void Simulation::begin_epoch() {
  course_.begin_epoch(epoch_);
  for (std::size_t i = 0; i < scenario_.vms.size(); ++i) {
    if (scenario_.vms[i].start == epoch_) {
      lives_[i].id = course_.id_of(i);
      daemon_.remember_load(*lives_[i].id, known_minutes_of(scenario_, scenario_.vms[i]));
    }
  }
  process_news();
}

void Simulation::process_news() {
  for (std::string& news : course_.take_news()) {
    news_.push_back(std::move(news));
  }
}

// ---- faults ----

void Simulation::begin_and_end_faults() {
  course_.begin_and_end_faults(epoch_, [this](const Fault& fault, bool is_on) {
    if (fault.kind == FaultKind::kNodeOffline && daemon_.running()) {
      daemon_.change_topology();
    } else if (fault.kind == FaultKind::kLibvirtGone) {
      daemon_.lose_libvirt(is_on);
    }
  });
  process_news();
}

void Simulation::strike() {
  const Fault fault = course_.strike();
  process_news();
  if (fault.kind != FaultKind::kDaemonRestart || policy_) {
    return;  // only the balancer has a daemon to kill
  }
  listen();
  daemon_.stop();
  // The simulated journal can always be read.
  oracles_.daemon_stopped(daemon_.journal().open_actions().value());
  daemon_restart_epoch_ = epoch_ + fault.epochs;
  news_.push_back("the daemon dies");
}

// ---- bookkeeping ----

void Simulation::listen() {
  DaemonReport report = daemon_.take_report();
  if (!report.orders.empty() || report.homes > 0) {
    last_activity_ = epoch_;
  }
  for (const balancer::LogLine& line : report.log) {
    if (line.severity != balancer::Severity::kDebug) {
      news_.push_back(line.message);
      last_activity_ = epoch_;
    }
  }
  // Orders are given in the tick and their events come later, so this is their actual sequence.
  for (migration::Order& order : report.orders) {
    oracles_.order_given(epoch_, order, host_);
    const std::int64_t action = order.action;
    const Prediction& predicted = order.predicted;
    predicted_[action] = {.epoch = epoch_,
                          .ended = epoch_,
                          .reason = order.reason,
                          .predicted = predicted.lost_before - predicted.lost_after,
                          .measured = {}};
    orders_.insert_or_assign(action, Given{epoch_, std::move(order), /*counted=*/false});
  }
  for (const balancer::OutcomeMeasured& outcome : report.outcomes) {
    PredictedAction& action = predicted_.at(outcome.action);
    action.ended = epoch_;
    action.measured = outcome.before.lost - outcome.after.lost;
    result_.predictions.push_back(action);
    predicted_.erase(outcome.action);
  }
  for (const PageMove& move : host_.take_moves()) {
    result_.moved += move.moved;
    result_.below_reserve += oracles_.below_reserve(move, host_);
    if (!policy_) {
      oracles_.pages_moved(move, host_);
    }
  }
  for (const migration::ActionEvent& event : report.events) {
    oracles_.action_told(event);
    const auto order = orders_.find(event.action);
    if (order == orders_.end()) {
      continue;
    }
    if (event.kind == migration::ActionEvent::Kind::kPinned && !order->second.counted) {
      order->second.counted = true;
      count_move(order->second);
    } else if (event.kind == migration::ActionEvent::Kind::kFinished) {
      orders_.erase(order);
    }
  }
}

void Simulation::count_move(const Given& given) {
  const migration::Order& order = given.order;
  std::int64_t moved_homes = 0;
  for (const migration::VmChange& change : order.changes) {
    for (const migration::HomeChange& home : change.homes) {
      if (home.from.value < 0) {
        continue;
      }
      ++moved_homes;
      Life* life = life_of(change.vm);
      if (order.reason == Reason::kLoadMove && life != nullptr) {
        ++life->moves;
      }
    }
  }
  switch (order.reason) {
    case Reason::kLoadMove:
    case Reason::kForecastMove:
      result_.moves += moved_homes;
      break;
    case Reason::kLoadSwap:
    case Reason::kLocalitySwap:
      ++result_.swaps;
      break;
    case Reason::kLocalityMove:
    case Reason::kAffinityMove:
      result_.locality_moves += moved_homes;
      break;
    case Reason::kLongTermMove:
    case Reason::kLongTermSwap:
      ++result_.long_term_moves;
      break;
    case Reason::kInitialPlacement:
    case Reason::kMemoryPull:
    case Reason::kAdministrator:
    case Reason::kMakeRoom:
    case Reason::kCpuAssignment:
    case Reason::kSpill:
      return;
  }
  if (moved_homes > 0) {
    result_.last_move_epoch = std::max(result_.last_move_epoch, given.epoch);
  }
}

void Simulation::record_homes() {
  if (!daemon_.running()) {
    return;
  }
  for (Life& life : lives_) {
    const balancer::VmRecord* vm = life.id ? daemon_.controller().ledger().find(*life.id) : nullptr;
    if (vm == nullptr) {
      continue;
    }
    life.homes.clear();
    for (const balancer::ClientRecord& client : vm->clients) {
      life.homes.push_back(client.home);
    }
  }
}

void Simulation::take_down() {
  Bytes local;
  Bytes resident;
  for (std::size_t i = 0; i < truth_.vms.size(); ++i) {
    const VmEpochFigures& vm = figures_.vms[i];
    wanted_ += vm.wanted;
    owed_ += vm.owed;
    stalled_ += vm.stalled;
    local += vm.local;
    resident += vm.resident;
    Life& life = *life_of(vm.id);
    life.could_use_us += vm.could_use.value;
    life.served_us += vm.served.value;
    life.stalled_us += vm.stalled.value;
    life.entitled_us += vm.entitled.value;
    life.locality = percentage_of(vm.local.value, vm.resident.value).value_or(Percentage{100'000});
    std::vector<std::int32_t> vcpus_on(truth_.topology.nodes.size());
    for (const VcpuTruth& vcpu : truth_.vms[i].vcpus) {
      if (vcpu.node != kNoNode) {
        ++vcpus_on[vcpu.node];
      }
      life.ran_us += vcpu.ran.value;
      life.waited_us += vcpu.waited.value;
    }
    const auto most = std::ranges::max_element(vcpus_on);
    const bool stays = life.main_node != kNoNode && vcpus_on[life.main_node] == *most;
    if (!stays) {
      result_.node_changes += life.main_node == kNoNode ? 0 : 1;
      life.main_node = static_cast<NodeIndex>(most - vcpus_on.begin());
    }
  }
  imbalance_.add(percentage_of(figures_.imbalance.value, 1000));
  locality_.add(percentage_of(local.value, resident.value));
}

Result<balancer::Answer> Simulation::ask(const balancer::Command& command) {
  if (!daemon_.running()) {
    return failure(ErrorCode::kUnavailable, "the daemon does not run");
  }
  return daemon_.ask(command);
}

SimulationResult Simulation::result() {
  SimulationResult result = result_;
  result.scenario = scenario_.name;
  result.seed = scenario_.seed;
  result.epochs = scenario_.epochs;
  result.imbalance = imbalance_.course();
  result.locality = locality_.course();
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return percentage_of(part, whole).value_or(Percentage{});
  };
  result.owed = share(owed_.value, wanted_.value);
  result.lost = share((owed_ + stalled_).value, wanted_.value);
  result.violations = oracles_.violations();
  for (std::size_t i = 0; i < lives_.size(); ++i) {
    const Life& life = lives_[i];
    result.vms.push_back({.name = scenario_.vms[i].name,
                          .homes = life.homes,
                          .used = share(life.served_us, life.could_use_us),
                          .worked = share(life.served_us - life.stalled_us, life.could_use_us),
                          .entitled = share(life.entitled_us, life.could_use_us),
                          .waited = share(life.waited_us, life.ran_us + life.waited_us),
                          .locality = life.locality,
                          .moves = life.moves});
  }
  return result;
}

}  // namespace vmnuma::tools
