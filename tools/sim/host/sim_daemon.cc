// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_daemon.h"

#include <algorithm>
#include <utility>

#include "migration/limits.h"
#include "placement/forecast/tree_model.h"

namespace vmnuma::tools {

namespace {

/// 2025-01-01, the beginning of every simulation.
constexpr std::int64_t kBeginUnixS = 1'735'689'600;
constexpr std::int64_t kMinuteS = 60;
/// Limit for one work(): calls are at most an epoch apart, and no port call takes zero time.
constexpr std::int64_t kMostSteps = 10'000'000;

}  // namespace

SimDaemon::SimDaemon(const Options& options, PlacementStrategy strategy, SimHost& host,
                     Microseconds& clock)
    : host_(host), clock_(clock), journal_(clock) {
  settings_.mode = balancer::Mode::kActive;
  settings_.options = options;
  settings_.strategy = strategy;
  loads_.set_predictors(predictors_with(std::nullopt));
}

void SimDaemon::start(Microseconds now) {
  now_ = now;
  worker_free_at_ = now;
  balancer::ControllerSetup setup{settings_, remembered_};
  setup.version = VMNUMA_VERSION;
  setup.uri = "sim";
  setup.host_name = "simulated";
  setup.topology = host_.firmware_topology();
  setup.last_action = journal_.last_action();
  running_ = std::make_unique<Running>(
      Running{balancer::Controller(std::move(setup)),
              migration::Executor(host_.libvirt(), host_.kernel(), journal_,
                                  migration::limits_from(settings_.options, host_.topology())),
              std::nullopt});
  if (records_) {
    recorder_.begin(running_->controller, anonymizes_, std::nullopt);
  }
  clock_ = now;
  if (host_.distances_are_measured() && host_.topology() != host_.firmware_topology()) {
    change_topology();
  }
  // The simulated journal can always be read.
  if (const auto open = journal_.open_actions(); open && !open->empty()) {
    running_->executor.recover(*open, clock_);
    wake_executor();
  }
  (void)feed(balancer::LoadsForecast{loads_.forecasts(wall_now() / kMinuteS - 1)});
  if (libvirt_lost_) {
    lose_libvirt(/*lost=*/true);
  } else {
    (void)feed(balancer::DomainsChanged{host_.refresh().value()});
  }
}

void SimDaemon::lose_libvirt(bool lost) {
  libvirt_lost_ = lost;
  if (!running_) {
    return;
  }
  (void)feed(balancer::SourceChanged{"libvirt", lost ? "it does not answer" : "", wall_now()});
  if (!lost) {
    (void)feed(balancer::DomainsChanged{host_.refresh().value()});
  }
}

std::int64_t SimDaemon::wall_now() const {
  return kBeginUnixS + now_.value / kMicrosecondsPerSecond;
}

void SimDaemon::remember_load(const VmId& vm, const std::vector<Permille>& minutes) {
  stats::VmLoads loads;
  loads.vm = vm;
  std::int64_t minute = kBeginUnixS / kMinuteS - static_cast<std::int64_t>(minutes.size());
  for (const Permille load : minutes) {
    loads.minutes.push_back({minute++, load});
  }
  loads_.learn(loads);
}

void SimDaemon::stop() {
  running_.reset();
}

void SimDaemon::tick(Sample sample) {
  now_ = sample.taken_at;
  (void)feed(balancer::TransfersReported{running_->executor.transfers()});
  (void)feed(balancer::SampleTaken{std::move(sample), wall_now(), {}});
}

void SimDaemon::refresh_domains() {
  if (!libvirt_lost_ && host_.domains_changed()) {
    (void)feed(balancer::DomainsChanged{host_.refresh().value()});
  }
}

void SimDaemon::change_topology() {
  running_->executor.set_limits(migration::limits_from(settings_.options, host_.topology()));
  wake_executor();
  (void)feed(balancer::TopologyChanged{
      host_.distances_are_measured() ? host_.topology() : host_.firmware_topology(), std::nullopt});
}

void SimDaemon::wake_executor() {
  running_->next_step = std::max(now_, worker_free_at_);
}

void SimDaemon::work(Microseconds until) {
  std::int64_t steps = 0;
  while (running_->next_step && *running_->next_step < until) {
    if (++steps > kMostSteps) {
      span_round_ = true;
      return;
    }
    clock_ = std::max(*running_->next_step, worker_free_at_);
    const migration::ExecutorStep step = running_->executor.step(clock_);
    worker_free_at_ = clock_;
    running_->next_step = step.next_at;
    if (step.next_at) {
      running_->next_step = std::max(*step.next_at, worker_free_at_);
    }
    now_ = clock_;
    for (const migration::ActionEvent& event : step.events) {
      report_.events.push_back(event);
      (void)feed(balancer::ActionProgressed{event});
    }
  }
}

std::vector<balancer::Reply> SimDaemon::feed(const balancer::Event& event) {
  balancer::Effects effects = recorder_.pass(running_->controller, event);
  for (balancer::LogLine& line : effects.log) {
    report_.log.push_back(std::move(line));
  }
  report_.outcomes.insert(report_.outcomes.end(), effects.outcomes.begin(), effects.outcomes.end());
  if (effects.epoch) {
    if (auto forecasts = loads_.epoch(effects.epoch->snapshot, wall_now())) {
      (void)feed(balancer::LoadsForecast{std::move(*forecasts)});
    }
  }
  report_.homes += static_cast<std::int64_t>(effects.homes.size());
  for (const balancer::HomeDecided& home : effects.homes) {
    if (home.home.value < 0) {
      remembered_.remembered_homes.erase(home.client);
    } else {
      remembered_.remembered_homes[home.client] = home.home;
    }
  }
  for (const VmId& vm : effects.cancelled) {
    running_->executor.cancel(vm);
    wake_executor();
  }
  if (effects.pause_transfers) {
    running_->executor.set_paused(*effects.pause_transfers);
    wake_executor();
  }
  if (effects.options) {
    running_->executor.set_limits(migration::limits_from(*effects.options, host_.topology()));
    wake_executor();
  }
  if (effects.memory_pressure) {
    running_->executor.set_memory_pressure(*effects.memory_pressure);
    wake_executor();
  }
  if (effects.released) {
    remembered_.released = std::move(*effects.released);
  }
  if (effects.reservations) {
    remembered_.reservations = std::move(*effects.reservations);
  }
  for (migration::Order& order : effects.orders) {
    record_order(remembered_.originals, order);
    report_.orders.push_back(order);
    running_->executor.submit(std::move(order));
    wake_executor();
  }
  for (const balancer::PolicyWrite& policy : effects.policies) {
    effects.replies.push_back(
        {policy.token,
         host_.libvirt().set_policy(policy.vm, policy.settings, policy.persistent).map([&] {
           return balancer::Answer(balancer::done_view(policy));
         })});
  }
  return std::move(effects.replies);
}

Result<balancer::Answer> SimDaemon::ask(const balancer::Command& command) {
  std::vector<balancer::Reply> replies = feed(balancer::CommandReceived{1, command});
  return std::move(replies.at(0).answer);
}

void SimDaemon::record(bool anonymize) {
  records_ = true;
  anonymizes_ = anonymize;
  if (running_) {
    recorder_.begin(running_->controller, anonymizes_, std::nullopt);
  }
}

std::vector<std::string> SimDaemon::take_recording() {
  return recorder_.take_lines(balancer::Recorder::kMostBytes);
}

DaemonReport SimDaemon::take_report() {
  return std::exchange(report_, {});
}

}  // namespace vmnuma::tools
