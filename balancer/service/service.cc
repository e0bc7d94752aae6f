// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/service.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include "balancer/service/history_rows.h"
#include "balancer/service/remembered.h"
#include "migration/limits.h"
#include "stats/history/epoch_rows.h"
#include "stats/latency/measured_distances.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::balancer {

using boost::system::error_code;

namespace {

constexpr std::size_t kMostReadings = 16;
constexpr std::chrono::seconds kReadingAllowed{10};

stats::WallTime history_time(const HostTime& time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.wall());
}

std::filesystem::path history_path(const ServiceSetup& setup) {
  return setup.history ? std::filesystem::path(setup.config.state_dir) / "history.sqlite"
                       : std::filesystem::path();
}

}  // namespace

Result<std::unique_ptr<Service>> Service::create(ServiceSetup setup) {
  std::unique_ptr<Service> service(new Service(std::move(setup)));
  return service->requests_.listen().map([&] { return std::move(service); });
}

template <typename Task>
void Service::post(Task task) {
  boost::asio::post(context_, std::move(task));
}

Service::Service(ServiceSetup setup)
    : setup_(std::move(setup)),
      host_(*setup_.host),
      time_(host_.time()),
      topology_(host_.topology()),
      log_(setup_.config.log_level, time_),
      controller_(controller_setup(setup_, log_)),
      journal_(setup_.history.get(), time_),
      ending_(setup_.board, setup_.signals, log_),
      epoch_timer_(context_),
      look_timer_(context_),
      history_(setup_.board, setup_.history.get(), log_,
               [this](std::string problem) {
                 post([this, problem = std::move(problem)] {
                   if (!is_history_damaged()) {  // otherwise look_at_workers() reports the problem
                     set_source("history", problem);
                   }
                 });
               }),
      sampler_(setup_.board, "sampler", kMostReadings, kReadingAllowed),
      vms_(setup_.board, context_, host_, log_,
           [this](const RunningVms::Report& told) { on_vms(told); }),
      latencies_(setup_.board, context_, host_, log_, setup_.config.state_dir,
                 [this] { report_topology(); }),
      originals_(history_, std::chrono::steady_clock::now()),
      admission_(context_, history_, log_, {setup_.config.state_dir, host_.root(), time_}),
      executor_(
          setup_.board, host_.control(), host_.mover(), journal_,
          migration::limits_from(setup_.config.options, topology_),
          [this](std::vector<migration::ActionEvent> events,
                 std::vector<migration::TransferProgress> transfers) {
            post([this, events = std::move(events), transfers = std::move(transfers)]() mutable {
              on_progress(std::move(events), std::move(transfers));
            });
          },
          time_),
      memory_(setup_.board, host_.units(), setup_.history.get(),
              [this](const std::string& path, const std::string& problem) {
                post([this, path, problem] { feed(MemoryLimitsSet{path, problem}); });
              }),
      forecasts_(setup_.board, history_path(setup_),
                 [this](LoadForecasts forecasts) {
                   post([this, forecasts = std::move(forecasts)]() mutable {
                     feed(LoadsForecast{std::move(forecasts)});
                   });
                 }),
      room_search_(setup_.board, setup_.search_program, setup_.config.socket_path,
                   [this](RoomSearched searched) {
                     post([this, searched = std::move(searched)] { feed(searched); });
                   }),
      requests_({context_, setup_, topology_, log_, controller_, history_, vms_, latencies_,
                 [this](Effects effects) { carry_out(std::move(effects)); }}) {
  host_.watch([this] { post([this] { vms_.refresh(); }); });
}

Service::~Service() = default;

const Settings& Service::settings() const {
  return controller_.now().settings();
}

std::optional<ControllerSetup> Service::to_resume() const {
  if (!is_history_damaged()) {
    return std::nullopt;
  }
  ControllerSetup known = controller_.now().to_resume();
  known.touched_units = memory_.touched_units().value_or(known.touched_units);
  return known;
}

bool Service::is_history_damaged() const {
  return setup_.history != nullptr && setup_.history->is_damaged();
}

Service::End Service::run() {
  report_notices();
  if (setup_.history == nullptr) {
    history_backoff_.failed(std::chrono::steady_clock::now());
    set_source("history", setup_.history_problem + "; it is tried again");
  } else if (!setup_.history->notice().empty()) {
    log_.say(Severity::kWarning, setup_.history->notice());
  }
  log_.say(Severity::kNotice,
           fmt::format("vmnumad {} started, mode {}, {} node{}, {}", VMNUMA_VERSION,
                       name_of(setup_.config.mode), topology_.nodes.size(),
                       topology_.nodes.size() == 1 ? "" : "s", host_.name()));
  for (stats::HostLack& lack : host_.lacks()) {
    feed(SourceChanged{std::string(lack.source), std::move(lack.reason), time_.wall_unix_s()});
  }
  setup_.signals.pass_to(
      {[this] { post([this] { reload(); }); }, [this] { post([this] { stop(); }); }});
  recover_if_active();
  vms_.refresh();
  latencies_.find(topology_);
  next_epoch_ = began_ = std::chrono::steady_clock::now();
  arm_epoch();
  arm_look();
  (void)sd_notify(0, "READY=1");  // no listener if not started by systemd
  context_.run();
  return setup_.signals.stop_passing() ? End::kStopped : end_;
}

// ---- events in, effects out ----

void Service::feed(const Event& event) {
  carry_out(controller_.take(event));
}

void Service::carry_out(Effects effects) {
  for (const LogLine& line : effects.log) {
    log_.say(line);
  }
  for (const Reply& answer : effects.replies) {
    requests_.reply(answer);
  }
  remember(effects);
  if (!effects.cancelled.empty()) {
    executor_.cancel(std::move(effects.cancelled));
  }
  if (effects.pause_transfers) {
    executor_.pause(*effects.pause_transfers);
  }
  if (effects.options) {
    executor_.set_limits(migration::limits_from(*effects.options, topology_));
  }
  if (effects.memory_pressure) {
    executor_.set_memory_pressure(*effects.memory_pressure);
  }
  if (!effects.orders.empty()) {
    executor_.submit(std::move(effects.orders));
  }
  if (effects.memory_originals || !effects.memory.empty()) {
    memory_.submit(std::move(effects.memory_originals), effects.memory);
  }
  if (effects.room_search) {
    room_search_.search(std::move(*effects.room_search));
  }
  for (PolicyWrite& policy : effects.policies) {
    requests_.write_policy(std::move(policy));
  }
  if (effects.epoch) {
    forecasts_.epoch(std::move(effects.epoch->snapshot), time_.wall_unix_s());
  }
}

/// Stores those effects that belong in the history and the state directory.
void Service::remember(Effects& effects) {
  for (const HomeDecided& home : effects.homes) {
    history_.write([home](stats::History& history) {
      return home.home.value < 0 ? history.forget_homes(home.client.vm)
                                 : history.save_home(home.client.vm, home.client.index, home.home);
    });
  }
  if (effects.released) {
    history_.write([released = std::move(*effects.released)](stats::History& history) {
      return keep_in(history, released);
    });
  }
  if (effects.reservations) {
    history_.write([reservations = std::move(*effects.reservations)](stats::History& history) {
      return keep_in(history, reservations);
    });
  }
  for (const ReservationChanged& change : effects.reservation_changes) {
    history_.write([row = reservation_event_row(change, history_time(time_))](
                       stats::History& history) { return history.record_reservation_event(row); });
  }
  for (const OutcomeMeasured& outcome : effects.outcomes) {
    history_.write([outcome](stats::History& history) {
      return history.set_outcome(outcome.action, outcome_row(outcome));
    });
  }
  for (const StartNotAdmitted& start : effects.not_admitted) {
    history_.write([row = not_admitted_row(start, history_time(time_)),
                    detail = start.detail](stats::History& history) {
      return history.record_action(row, stats::ActionState::kDropped, detail);
    });
  }
  if (effects.admission) {
    admission_.keep(std::move(*effects.admission));
  }
  if (effects.epoch) {
    history_.write([rows = stats::epoch_rows(effects.epoch->snapshot, history_time(time_))](
                       stats::History& history) { return history.append_epoch(rows); });
  }
}

void Service::on_progress(std::vector<migration::ActionEvent> events,
                          std::vector<migration::TransferProgress> transfers) {
  for (migration::ActionEvent& event : events) {
    // libvirt has events for pins but none for a changed set of memory nodes.
    for (const VmId& vm : event.vms) {
      host_.mark_dirty(vm);
    }
    feed(ActionProgressed{std::move(event)});
  }
  transferring_.clear();
  for (const migration::TransferProgress& transfer : transfers) {
    transferring_.insert(transfer.vm);
  }
  feed(TransfersReported{std::move(transfers)});
}

void Service::on_vms(const RunningVms::Report& told) {
  set_source("libvirt", told.problem);
  if (told.problem.empty()) {
    feed(DomainsChanged{vms_.now(), vms_.unreadable()});
    for (const VmId& vm : told.started) {
      ask_expected_load(vm);
    }
  }
}

void Service::ask_expected_load(const VmId& vm) {
  history_.write([this, vm](stats::History& history) -> Result<void> {
    VMNUMA_ASSIGN_OR_RETURN(auto usual, history.cpu_p95_permille(vm));
    if (usual) {
      post([this, vm, load = *usual] { feed(LoadExpected{vm, load}); });
    }
    return {};
  });
}

// ---- the epoch ----

void Service::arm_epoch() {
  const auto now = std::chrono::steady_clock::now();
  const auto period = time_.here({controller_.now().ledger().options().rebalance_period * 1000});
  while (next_epoch_ <= now) {
    next_epoch_ += period;
  }
  epoch_timer_.expires_at(next_epoch_);
  epoch_timer_.async_wait([this](const error_code& error) {
    if (!error) {
      on_epoch();
      arm_epoch();
    }
  });
}

void Service::on_epoch() {
  const auto now = std::chrono::steady_clock::now();
  vms_.retry_if_due(now);
  admission_.refresh_if_due(now);
  originals_.keep_if_due(now, controller_.now());
  if (sampling_) {
    return;
  }
  ++sequence_;
  sampling_ = sampler_.post(
      "reading the host and its VMs",
      [this, due = next_epoch_, running = vms_.now(), moving = transferring_,
       spilling = controller_.now().ledger().spilling(), sequence = sequence_] {
        HostReading reading = host_.read({sequence, time_.now(), running, moving, spilling});
        post([this, due, reading = std::move(reading)]() mutable {
          on_reading(std::move(reading), due);
        });
      });
}

void Service::on_reading(HostReading reading, std::chrono::steady_clock::time_point due) {
  sampling_ = false;
  if (reading.news) {
    log_.say(*reading.news);
  }
  if (reading.topology) {
    topology_ = std::move(*reading.topology);
    executor_.set_limits(migration::limits_from(controller_.now().ledger().options(), topology_));
    report_topology();
  }
  const auto late = std::chrono::steady_clock::now() - due;
  feed(SampleTaken{std::move(reading.sample),
                   time_.wall_unix_s(),
                   {std::chrono::duration_cast<std::chrono::microseconds>(late).count()}});
  (void)sd_notify(0, "WATCHDOG=1");
}

/// Passes the nodes to the controller, and their distances if these are measured.
void Service::report_topology() {
  TopologyChanged change{topology_, std::nullopt};
  const stats::HostLatencies& latencies = latencies_.found();
  const auto local_read_ns = stats::local_read_ns(topology_, latencies);
  if (setup_.config.distances == Distances::kMeasured && local_read_ns) {
    change.topology = stats::with_measured_distances(topology_, latencies);
    change.measured = {*local_read_ns, stats::stall_pct(Options{}.mem_stall_pct, *local_read_ns)};
  }
  feed(change);
}

// ---- missing sources ----

void Service::arm_look() {
  look_timer_.expires_after(kLookEvery);
  look_timer_.async_wait([this](const error_code& error) {
    if (!error) {
      look_at_workers();
      arm_look();
    }
  });
}

void Service::look_at_workers() {
  const auto now = std::chrono::steady_clock::now();
  for (const std::string& source : sources_.look(setup_.board.overdue(now))) {
    report_source(source);
  }
  // Starting over would end a pause, and while paused nothing needs a history.
  if (setup_.history == nullptr && controller_.now().mode() != Mode::kPaused &&
      history_backoff_.is_due(now)) {
    try_history();
  }
  if (is_history_damaged() && replace_history(now)) {
    return;
  }
  latencies_.find_if_due(topology_, now);
}

/// Checks whether the history can be opened. It is not adopted while the service runs, because its
/// homes, pins and action numbers are needed before the first decision.
void Service::try_history() {
  history_backoff_.failed(std::chrono::steady_clock::now());
  (void)history_.post("opening the history", [this] {
    post([this, opened = setup_.try_history()] {
      if (!opened) {
        set_source("history", opened.error().message + "; it is tried again");
        return;
      }
      start_over("the history can be opened now, restarting with it");
    });
  });
}

/// Starts over with a new history; false if that has to wait. A disk that damages one history after
/// the other must not displace the few damaged ones that are kept.
bool Service::replace_history(std::chrono::steady_clock::time_point now) {
  const bool is_again = setup_.resumed && now - began_ < kReplacedAtMostEvery;
  set_source(
      "history",
      fmt::format(
          "'{}' is damaged; {}", setup_.history->path().string(),
          is_again
              ? "so was the one before it: check the disk and restart vmnumad"
              : "a new one will be started when no action is under way and moves are not paused"));
  if (is_again || controller_.now().mode() == Mode::kPaused || !controller_.now().is_idle()) {
    return false;
  }
  start_over("the history is damaged, restarting with a new one");
  return true;
}

void Service::start_over(std::string_view why) {
  log_.say(Severity::kNotice, std::string(why));
  (void)sd_notify(0, "RELOADING=1");
  end_ = End::kStartOver;
  stop_accepting();
  ending_.end(workers_to_end());
  context_.stop();
}

void Service::set_source(const std::string& source, std::string problem) {
  sources_.answered(source, std::move(problem));
  report_source(source);
}

void Service::report_source(const std::string& source) {
  feed(SourceChanged{source, sources_.problem_of(source), time_.wall_unix_s()});
}

// ---- signals ----

void Service::report_notices() {
  for (const std::string& notice : setup_.config.notices) {
    log_.say(Severity::kWarning, notice);
  }
}

void Service::reload() {
  (void)sd_notify(0, "RELOADING=1");
  if (const Result<Config> read = setup_.reload(); !read) {
    log_.say(Severity::kError,
             fmt::format("configuration not reloaded, keeping the previous one: {}",
                         read.error().message));
  } else {
    const Distances distances_before = setup_.config.distances;
    setup_.config = without_restart(*read, setup_.config);
    if (setup_.config != *read) {
      log_.say(Severity::kWarning,
               "changes of hypervisor, uri, socket_path, socket_group, state_dir and [history] "
               "take effect at the next start");
    }
    log_.set_level(setup_.config.log_level);
    report_notices();
    recover_if_active();
    feed(ConfigChanged{settings_of(setup_.config)});
    if (setup_.config.distances != distances_before) {
      report_topology();
    }
  }
  (void)sd_notify(0, "READY=1");
}

/// Recovers what an earlier daemon left open, if this one may act.
void Service::recover_if_active() {
  if (setup_.config.mode == Mode::kActive && !std::exchange(has_recovered_, true)) {
    executor_.recover();
  }
}

void Service::stop() {
  (void)sd_notify(0, "STOPPING=1");
  const bool restore = setup_.config.on_stop == OnStop::kRestore;
  log_.say(Severity::kNotice, restore ? "stopping; VMs are restored to how they were found"
                                      : "stopping; VMs stay where they are");
  stop_accepting();
  if (restore) {
    feed(Stopping{/*restore=*/true});
    ending_.restore(workers_to_end());
  }
  ending_.end(workers_to_end());
  context_.stop();
}

void Service::stop_accepting() {
  latencies_.stop();
  epoch_timer_.cancel();
  look_timer_.cancel();
  requests_.close();
}

Ending::Workers Service::workers_to_end() {
  return {executor_, memory_, history_};
}

}  // namespace vmnuma::balancer
