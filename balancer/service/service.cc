// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/service.h"

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include "balancer/config/config_view.h"
#include "balancer/config/persisted_options.h"
#include "balancer/protocol/response.h"
#include "balancer/service/admission_file.h"
#include "balancer/service/history_answer.h"
#include "balancer/service/history_rows.h"
#include "balancer/service/remembered.h"
#include "migration/limits.h"
#include "stats/history/epoch_rows.h"
#include "stats/latency/measured_distances.h"
#include "stats/reports/tables.h"

namespace vmnuma::balancer {

using boost::system::error_code;

namespace {

constexpr std::size_t kMostHistoryTasks = 2000;
constexpr std::size_t kMostTasks = 16;

// How long a task of a worker may take before it is said to hang.
constexpr std::chrono::seconds kSamplingAllowed{10};
constexpr std::chrono::seconds kLibvirtAllowed{10};
constexpr std::chrono::seconds kHistoryAllowed{30};
constexpr std::chrono::minutes kLatencyAllowed{10};

// The end. Each must be over that long after it was asked for, and leaves the next its own second;
// what is still at work at Signals::kPatience is given up.
constexpr std::chrono::milliseconds kActionsAtRest{1500};
constexpr std::chrono::milliseconds kMemorySet{2500};
constexpr std::chrono::milliseconds kHistoryWritten{3500};
// A task that takes that long by then is not waited for at all.
constexpr std::chrono::seconds kHangs{10};

Settings settings_of(const Config& config) {
  return {config.mode,
          config.options,
          {config.origins.begin(), config.origins.end()},
          {config.vms.begin(), config.vms.end()},
          config.metadata_wins,
          config.foreign_pins == ForeignPins::kRepair,
          config.strategy,
          config.admission,
          config.reserved_memory,
          config.notices};
}

bool is_about_recording(const Command& command) {
  return std::holds_alternative<RecordStartRequest>(command) ||
         std::holds_alternative<RecordNextRequest>(command) ||
         std::holds_alternative<RecordStopRequest>(command);
}

std::optional<PlayCommand> play_command(const Command& command) {
  return std::visit(
      [](const auto& request) -> std::optional<PlayCommand> {
        if constexpr (std::is_constructible_v<PlayCommand, decltype(request)>) {
          return request;
        } else {
          return std::nullopt;
        }
      },
      command);
}

bool takes_long(const Command& question) {
  return std::holds_alternative<WhatIfRequest>(question) ||
         std::holds_alternative<PlanRequest>(question) ||
         std::holds_alternative<ExplainRequest>(question) ||
         std::holds_alternative<StateRequest>(question);
}

std::int64_t unix_s(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

ControllerSetup controller_setup(const ServiceSetup& setup) {
  ControllerSetup controller{settings_of(setup.config)};
  controller.version = VMNUMA_VERSION;
  controller.uri = hypervisor_text(setup.config);
  controller.host_name = setup.host->host_name();
  controller.topology = setup.host->topology();
  controller.expected =
      read_expected_vms(setup.config.state_dir,
                        admission_stamp(setup.host->root(), unix_s(setup.host->time().wall())));
  if (setup.history == nullptr) {
    controller.originals_known = false;
    return controller;
  }
  controller.history_path = setup.history->path();
  controller.history_notice = setup.history->notice();
  controller.last_action = setup.last_action;
  Remembered remembered = remember(*setup.history);
  controller.remembered_homes = std::move(remembered.homes);
  controller.originals = std::move(remembered.originals);
  controller.originals_known = remembered.originals_known;
  controller.released = std::move(remembered.released);
  controller.reservations = std::move(remembered.reservations);
  controller.memory_originals = std::move(remembered.memory_originals);
  return controller;
}

}  // namespace

Result<std::unique_ptr<Service>> Service::create(ServiceSetup setup) {
  std::unique_ptr<Service> service(new Service(std::move(setup)));
  const Config& config = service->setup_.config;
  Result<std::unique_ptr<ControlSocket>> socket = ControlSocket::listen(
      service->context_, config.socket_path, config.socket_group,
      [self = service.get()](std::int64_t token, const Peer& peer, const Request& request) {
        self->on_request(token, peer, request);
      });
  if (!socket) {
    return tl::unexpected(std::move(socket).error());
  }
  service->socket_ = std::move(*socket);
  return service;
}

Service::Service(ServiceSetup setup)
    : setup_(std::move(setup)),
      host_(*setup_.host),
      time_(host_.time()),
      topology_(host_.topology()),
      log_(setup_.config.log_level),
      epoch_timer_(context_),
      look_timer_(context_),
      journal_(setup_.history.get(), time_),
      controller_(controller_setup(setup_)),
      place_(setup_.board, "end", Signals::kPatience),
      history_worker_(setup_.board, "history", kMostHistoryTasks, kHistoryAllowed),
      sampler_worker_(setup_.board, "sampler", kMostTasks, kSamplingAllowed),
      inventory_worker_(setup_.board, "libvirt", kMostTasks, kLibvirtAllowed),
      latency_worker_(setup_.board, "latency", 1, kLatencyAllowed),
      short_questions_(
          setup_.board, "answers", context_, [this] { return copy_of_controller(); }, reply_line(),
          host_.root()),
      long_questions_(
          setup_.board, "what-if", context_, [this] { return copy_of_controller(); }, reply_line(),
          host_.root()) {
  host_.watch([this] { boost::asio::post(context_, [this] { refresh_inventory(); }); });
  executor_ = std::make_unique<ExecutorWorker>(
      setup_.board, host_.control(), host_.mover(), journal_,
      migration::limits_from(setup_.config.options, topology_),
      [this](std::vector<migration::ActionEvent> events,
             std::vector<migration::TransferProgress> transfers) {
        boost::asio::post(context_, [this, events = std::move(events),
                                     transfers = std::move(transfers)]() mutable {
          for (migration::ActionEvent& event : events) {
            // libvirt has events for pins and none for a set of memory nodes.
            for (const placement::VmId& vm : event.vms) {
              host_.mark_dirty(vm);
            }
            feed(ActionProgressed{std::move(event)});
          }
          transferring_.clear();
          for (const migration::TransferProgress& transfer : transfers) {
            transferring_.insert(transfer.vm);
          }
          feed(TransfersReported{std::move(transfers)});
        });
      },
      time_);
  memory_worker_ =
      std::make_unique<MemoryWorker>(setup_.board, host_.units(), setup_.history.get(),
                                     [this](const std::string& path, const std::string& problem) {
                                       boost::asio::post(context_, [this, path, problem] {
                                         feed(MemoryLimitsSet{path, problem});
                                       });
                                     });
  forecast_worker_ = std::make_unique<ForecastWorker>(
      setup_.board,
      setup_.history ? std::filesystem::path(setup_.config.state_dir) / "history.sqlite"
                     : std::filesystem::path(),
      [this](placement::LoadForecasts forecasts) {
        boost::asio::post(context_, [this, forecasts = std::move(forecasts)]() mutable {
          feed(LoadsForecast{std::move(forecasts)});
        });
      });
  room_search_worker_ = std::make_unique<RoomSearchWorker>(
      setup_.board, setup_.search_program, setup_.config.socket_path,
      [this](RoomSearched searched) {
        boost::asio::post(context_, [this, searched = std::move(searched)]() mutable {
          feed(std::move(searched));
        });
      });
}

Service::~Service() = default;

Service::End Service::run() {
  log_notices();
  if (setup_.history == nullptr) {
    history_backoff_.failed(std::chrono::steady_clock::now());
    set_source("history", setup_.history_problem + "; it is tried again");
  } else if (!setup_.history->notice().empty()) {
    say(Severity::kWarning, setup_.history->notice());
  }
  say(Severity::kNotice,
      fmt::format("vmnumad {} started, mode {}, {} nodes, {}", VMNUMA_VERSION,
                  name_of(setup_.config.mode), topology_.nodes.size(), host_.name()));
  for (stats::HostLack& lack : host_.lacks()) {
    feed(SourceChanged{std::string(lack.source), std::move(lack.reason), wall_now()});
  }
  setup_.signals.pass_to({[this] { boost::asio::post(context_, [this] { reload(); }); },
                          [this] { boost::asio::post(context_, [this] { stop(); }); }});
  if (setup_.config.mode == Mode::kActive) {
    executor_->recover();
  }
  refresh_inventory();
  find_host_latencies();
  next_epoch_ = std::chrono::steady_clock::now();
  arm_epoch();
  arm_look();
  (void)sd_notify(0, "READY=1");  // nobody listens if not started by systemd
  context_.run();
  return setup_.signals.pass_to_nobody() ? End::kStopped : end_;
}

std::int64_t Service::wall_now() const {
  return unix_s(time_.wall());
}

stats::WallTime Service::history_now() const {
  return std::chrono::floor<std::chrono::milliseconds>(time_.wall());
}

/// Any thread.
void Service::say(const LogLine& line) {
  log_.write(line);
  events_.add(line, wall_now());
}

// ---- events in, effects out ----

void Service::feed(const Event& event) {
  carry_out(take(event));
}

Effects Service::take(const Event& event) {
  copy_.reset();
  return recorder_.pass(controller_, event);
}

void Service::carry_out(Effects effects) {
  for (const LogLine& line : effects.log) {
    say(line);
  }
  for (const Reply& answer : effects.replies) {
    reply(answer);
  }
  if (!effects.cancelled.empty()) {
    executor_->cancel(std::move(effects.cancelled));
  }
  if (effects.pause_transfers) {
    executor_->pause(*effects.pause_transfers);
  }
  if (effects.options) {
    executor_->set_limits(migration::limits_from(*effects.options, topology_));
  }
  if (effects.memory_pressure) {
    executor_->set_memory_pressure(*effects.memory_pressure);
  }
  for (const HomeDecided& home : effects.homes) {
    with_history([home](stats::History& history) {
      return home.home.value < 0 ? history.forget_homes(home.client.vm)
                                 : history.save_home(home.client.vm, home.client.index, home.home);
    });
  }
  if (effects.released) {
    with_history([released = std::move(*effects.released)](stats::History& history) {
      return keep_released(history, released);
    });
  }
  if (effects.reservations) {
    with_history([reservations = std::move(*effects.reservations)](stats::History& history) {
      return keep_reservations(history, reservations);
    });
  }
  for (const ReservationChanged& change : effects.reservation_changes) {
    with_history([row = reservation_event_row(change, history_now())](stats::History& history) {
      return history.note_reservation_event(row);
    });
  }
  if (!effects.orders.empty()) {
    executor_->submit(std::move(effects.orders));
  }
  if (effects.memory_originals || !effects.memory.empty()) {
    memory_worker_->submit(std::move(effects.memory_originals), effects.memory);
  }
  for (const OutcomeMeasured& outcome : effects.outcomes) {
    with_history([outcome](stats::History& history) {
      return history.set_outcome(outcome.action, outcome_row(outcome));
    });
  }
  for (const StartNotAdmitted& start : effects.not_admitted) {
    with_history([row = not_admitted_row(start, history_now()),
                  detail = start.detail](stats::History& history) {
      return history.note_action(row, stats::ActionState::kDropped, detail);
    });
  }
  if (effects.admission) {
    admission_ = std::move(*effects.admission);
    keep_admission();
  }
  if (effects.room_search) {
    room_search_worker_->search(std::move(*effects.room_search));
  }
  for (PolicyWrite& policy : effects.policies) {
    write_policy(std::move(policy));
  }
  if (effects.epoch) {
    with_history([rows = stats::epoch_rows(effects.epoch->snapshot, history_now())](
                     stats::History& history) { return history.append_epoch(rows); });
    forecast_worker_->epoch(std::move(effects.epoch->snapshot), wall_now());
  }
}

/// For the hook while the daemon is away, and for the next start.
void Service::keep_admission() {
  if (admission_.nodes.empty()) {
    return;
  }
  admission_kept_at_ = std::chrono::steady_clock::now();
  const bool posted = history_worker_.post("writing", [this, state = admission_] {
    const Result<void> kept =
        write_admission(setup_.config.state_dir, state, admission_stamp(host_.root(), wall_now()));
    if (std::exchange(admission_problem_, kept ? "" : kept.error().message).empty() && !kept) {
      say(Severity::kWarning,
          fmt::format("what decides on starts while the daemon is away could not be kept: "
                      "{}; the hook judges by the host's files then",
                      kept.error().message));
    }
  });
  (void)posted;  // tried again in kAdmissionWrittenEvery_s
}

void Service::with_history(std::function<Result<void>(stats::History&)> task) {
  if (setup_.history == nullptr) {
    return;
  }
  const bool posted = history_worker_.post("writing", [this, task = std::move(task)] {
    Result<void> done = task(*setup_.history);
    boost::asio::post(context_, [this, reason = done ? std::string() : done.error().message] {
      set_source("history", reason);
    });
  });
  if (!posted && ++lost_epochs_ == 1) {
    say(Severity::kWarning, "the history is too slow, leaving out what it cannot take");
  }
}

// ---- the socket ----

void Service::on_request(std::int64_t token, const Peer& peer, const Request& request) {
  if (const auto* history = std::get_if<HistoryRequest>(&request.command)) {
    answer_history(token, request.id,
                   [asked = *history, host = HostVmsAndNodes{running_, topology_}](
                       stats::History& kept) { return history_answer(kept, asked, host); });
    return;
  }
  if (const auto* reservations = std::get_if<ReservationHistoryRequest>(&request.command)) {
    answer_history(token, request.id, [asked = *reservations](stats::History& kept) {
      return reservation_history_answer(kept, asked);
    });
    return;
  }
  if (const auto* events = std::get_if<EventsRequest>(&request.command)) {
    answer_events(token, request.id, *events);
    return;
  }
  if (std::holds_alternative<ConfigRequest>(request.command)) {
    socket_->answer(token, encode_response(request.id, Answer(config_view(config_now()))));
    return;
  }
  if (is_about_recording(request.command)) {
    socket_->answer(token,
                    encode_response(request.id, recorder_.answer(request.command, controller_)));
    return;
  }
  if (const auto* asked = std::get_if<StatsRequest>(&request.command);
      asked != nullptr && asked->type == stats::kLatencyTable) {
    socket_->answer(
        token, encode_response(request.id, Answer(stats::latency_table(
                                               stats::latency_rows(topology_, host_latencies_)))));
    return;
  }
  if (const std::optional<PlayCommand> played = play_command(request.command)) {
    play(token, request.id, *played);
    return;
  }
  if (!changes_something(request.command)) {
    Questions& questions = takes_long(request.command) ? long_questions_ : short_questions_;
    questions.ask(token, peer, request);
    return;
  }
  waiting_[token] = request.id;
  if (const auto* set = std::get_if<OptionsSetRequest>(&request.command);
      set != nullptr && set->persist) {
    persist(token, *set);
    return;
  }
  feed(CommandReceived{token, request.command});
}

/// What questions are answered from until the controller takes the next event.
std::shared_ptr<const Controller> Service::copy_of_controller() {
  if (copy_ == nullptr) {
    copy_ = std::make_shared<const Controller>(controller_);
  }
  return copy_;
}

Questions::Reply Service::reply_line() {
  return [this](std::int64_t token, std::string line) {
    if (socket_ != nullptr) {  // else the daemon is about to end
      socket_->answer(token, std::move(line));
    }
  };
}

void Service::reply(const Reply& reply) {
  const auto found = waiting_.find(reply.token);
  const std::int64_t id = found == waiting_.end() ? 0 : found->second;
  waiting_.erase(reply.token);
  socket_->answer(reply.token, encode_response(id, reply.answer));
}

/// libvirt tells of the change with an event, which makes it count.
void Service::write_policy(PolicyWrite policy) {
  const std::int64_t token = policy.token;
  const bool posted = inventory_worker_.post("writing a policy", [this,
                                                                  policy = std::move(policy)] {
    Result<Answer> answer =
        host_.control().set_policy(policy.vm, policy.settings, policy.persistent).map([&] {
          return Answer(done_view(policy));
        });
    boost::asio::post(context_, [this, token = policy.token, answer = std::move(answer)]() mutable {
      reply({token, std::move(answer)});
    });
  });
  if (!posted) {
    reply({token, failure(ErrorCode::kBusy, "libvirt is slow to answer, try again")});
  }
}

/// The host tells of the change, which makes it count.
void Service::play(std::int64_t token, std::int64_t id, const PlayCommand& command) {
  const auto send = [this, token, id](const Result<Answer>& answer) {
    if (socket_ != nullptr) {
      socket_->answer(token, encode_response(id, answer));
    }
  };
  const bool posted = inventory_worker_.post("playing", [this, send, command] {
    Result<Answer> answer = host_.play(command).map([](std::string&& done) {
      return Answer(DoneView{std::move(done), std::nullopt});
    });
    boost::asio::post(context_, [send, answer = std::move(answer)] { send(answer); });
  });
  if (!posted) {
    send(failure(ErrorCode::kBusy, "the host is slow to answer, try again"));
  }
}

/// It is kept first, so that the answer tells what became of it. What cannot be kept counts
/// nevertheless, until the next start.
void Service::persist(std::int64_t token, const OptionsSetRequest& request) {
  const bool posted = history_worker_.post("keeping an option", [this, token, request] {
    Result<void> kept = persist_option(setup_.config.state_dir, request.name, request.value);
    boost::asio::post(context_, [this, token, request, kept = std::move(kept)] {
      set_option(token, request, kept);
    });
  });
  if (!posted) {
    set_option(token, request, failure(ErrorCode::kBusy, "the disk is slow to answer"));
  }
}

void Service::set_option(std::int64_t token, OptionsSetRequest request, const Result<void>& kept) {
  request.persist = kept.has_value();
  Effects effects = take(CommandReceived{token, request});
  for (Reply& answer : effects.replies) {
    if (answer.answer && !kept) {
      answer.answer = failure(kept.error(),
                              fmt::format("{} is {} now, but could not be kept for the next start",
                                          request.name, request.value));
    }
  }
  carry_out(std::move(effects));
}

void Service::answer_history(std::int64_t token, std::int64_t id,
                             std::function<Result<Answer>(stats::History&)> look) {
  if (setup_.history == nullptr) {
    const Result<Answer> none =
        failure(ErrorCode::kUnavailable, "there is no history: " + setup_.history_problem);
    socket_->answer(token, encode_response(id, none));
    return;
  }
  look_back(token, id, std::move(look));
}

/// As it was read, with the options that decisions go by.
Config Service::config_now() const {
  Config config = setup_.config;
  if (const Result<Answer> answer = controller_.answer(OptionsListRequest{})) {
    for (const OptionView& option : std::get<OptionsView>(*answer).options) {
      config.origins[option.name] = option.origin;
      (void)placement::set_option(config.options, option.name, option.value);  // it has this value
    }
  }
  return config;
}

void Service::answer_events(std::int64_t token, std::int64_t id, const EventsRequest& request) {
  if (!request.vm) {
    socket_->answer(token, encode_response(id, Answer(events_.answer(request))));
    return;
  }
  const auto answer = [this, request](const std::string& name) {
    EventsRequest of_name = request;
    of_name.vm = name;
    return Answer(events_.answer(of_name));
  };
  const Result<std::string> running = vm_name(*request.vm, {}, running_);
  if (running || !asks_of_untold(request, events_)) {
    socket_->answer(token, encode_response(id, answer(running.value_or(*request.vm))));
  } else if (setup_.history == nullptr) {
    socket_->answer(token, encode_response(id, tl::unexpected(running.error())));
  } else {
    look_back(token, id, [vm = *request.vm, now = running_, answer](stats::History& history) {
      return past_vm_name(history, vm, now).map(answer);
    });
  }
}

/// There must be a history.
void Service::look_back(std::int64_t token, std::int64_t id,
                        std::function<Result<Answer>(stats::History&)> look) {
  const auto send = [this, token, id](const Result<Answer>& answer) {
    socket_->answer(token, encode_response(id, answer));
  };
  const bool posted = history_worker_.post("looking back", [this, send, look = std::move(look)] {
    boost::asio::post(context_, [send, answer = look(*setup_.history)] { send(answer); });
  });
  if (!posted) {
    send(failure(ErrorCode::kBusy, "the history is busy, try again"));
  }
}

// ---- distances ----

/// On a worker of its own, because the thread is bound to one node after the other.
void Service::find_host_latencies() {
  const bool posted = latency_worker_.post(
      "measuring latencies", [this, state_dir = setup_.config.state_dir, topology = topology_,
                              known = host_latencies_.measured] {
        FoundLatencies found = host_.find_latencies(state_dir, topology, known, stopping_);
        boost::asio::post(context_, [this, found = std::move(found)] {
          latency_schedule_.ended(!found.again, std::chrono::steady_clock::now());
          if (found.log.message != latencies_said_) {
            say(found.log);
            latencies_said_ = found.log.message;
          }
          host_latencies_ = found.latencies;
          tell_topology();
        });
      });
  if (posted) {
    latency_schedule_.begun(topology_);
  }
}

/// Tells the controller what nodes there are, and how far they are from each other if that is
/// measured.
void Service::tell_topology() {
  TopologyChanged change{topology_, std::nullopt};
  const auto local_read_ns = stats::local_read_ns(topology_, host_latencies_);
  if (setup_.config.distances == Distances::kMeasured && local_read_ns) {
    change.topology = stats::with_measured_distances(topology_, host_latencies_);
    change.measured = {*local_read_ns,
                       stats::stall_pct(placement::Options{}.mem_stall_pct, *local_read_ns)};
  }
  feed(change);
}

// ---- the epoch ----

/// Nodes or CPUs went or came, or VMs may use others of them.
void Service::on_topology(placement::Topology topology) {
  topology_ = std::move(topology);
  executor_->set_limits(migration::limits_from(controller_.ledger().options(), topology_));
  tell_topology();
}

void Service::arm_epoch() {
  const auto now = std::chrono::steady_clock::now();
  const auto period = time_.here({controller_.ledger().options().rebalance_period * 1000});
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
  if (!faults_["libvirt"].empty() && libvirt_backoff_.is_due(now)) {
    refresh_inventory();
  }
  if (now - admission_kept_at_ >= std::chrono::seconds(kAdmissionWrittenEvery_s)) {
    keep_admission();
  }
  if (sampling_) {
    return;
  }
  sampling_ = true;
  ++sequence_;
  const auto due = next_epoch_;
  const bool posted = sampler_worker_.post(
      "reading the host and its VMs",
      [this, due, running = running_, moving = transferring_, sequence = sequence_] {
        HostReading reading = host_.read({sequence, time_.now(), running, moving});
        boost::asio::post(context_, [this, due, reading = std::move(reading)]() mutable {
          sampling_ = false;
          if (reading.news) {
            say(*reading.news);
          }
          if (reading.topology) {
            on_topology(std::move(*reading.topology));
          }
          const auto late = std::chrono::steady_clock::now() - due;
          feed(SampleTaken{std::move(reading.sample),
                           wall_now(),
                           {std::chrono::duration_cast<std::chrono::microseconds>(late).count()}});
          (void)sd_notify(0, "WATCHDOG=1");
        });
      });
  if (!posted) {
    sampling_ = false;
  }
}

// ---- what is missing ----

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
  std::map<std::string, std::string> hangs;
  for (const TaskBoard::BusyPlace& place : setup_.board.overdue(now)) {
    const auto known = hangs_.find(place.name);
    hangs[place.name] = known != hangs_.end() ? known->second : overdue_text(place);
  }
  const std::map<std::string, std::string> before = std::exchange(hangs_, std::move(hangs));
  for (const auto& [source, reason] : before) {
    if (!hangs_.contains(source)) {
      tell_source(source);
    }
  }
  for (const auto& [source, reason] : hangs_) {
    if (!before.contains(source)) {
      tell_source(source);
    }
  }
  if (setup_.history == nullptr && history_backoff_.is_due(now)) {
    try_history();
  }
  if (latency_schedule_.is_due(topology_, now)) {
    find_host_latencies();
  }
}

/// A history that can be opened at last is not taken up in mid-run: what it remembers of homes,
/// pins and numbers of actions is needed before the first decision.
void Service::try_history() {
  history_backoff_.failed(std::chrono::steady_clock::now());
  (void)history_worker_.post("opening the history", [this] {
    boost::asio::post(context_, [this, opened = setup_.try_history()] {
      if (!opened) {
        set_source("history", opened.error().message + "; it is tried again");
        return;
      }
      say(Severity::kNotice, "the history can be opened now, starting over with it");
      (void)sd_notify(0, "RELOADING=1");
      end_ = End::kStartOver;
      take_nothing_more();
      end();
    });
  });
}

void Service::set_source(const std::string& source, const std::string& reason) {
  faults_[source] = reason;
  tell_source(source);
}

/// What hangs goes before what was answered last.
void Service::tell_source(const std::string& source) {
  const auto hang = hangs_.find(source);
  feed(SourceChanged{source, hang != hangs_.end() ? hang->second : faults_[source], wall_now()});
}

// ---- libvirt ----

void Service::refresh_inventory() {
  if (refreshing_) {
    refresh_again_ = true;
    return;
  }
  refreshing_ = inventory_worker_.post("asking for the running VMs", [this] {
    Result<std::vector<placement::VmDescription>> running = host_.refresh();
    std::vector<std::string> notices = host_.take_notices();
    boost::asio::post(context_,
                      [this, running = std::move(running), notices = std::move(notices)]() mutable {
                        for (const std::string& notice : notices) {
                          log_.write(Severity::kWarning, notice);
                        }
                        on_inventory(std::move(running));
                      });
  });
}

void Service::on_inventory(Result<std::vector<placement::VmDescription>> running) {
  refreshing_ = false;
  set_source("libvirt", running ? std::string() : running.error().message);
  if (!running) {
    libvirt_backoff_.failed(std::chrono::steady_clock::now());
  } else {
    say_who_runs(*running, running_, "runs");
    say_who_runs(running_, *running, "has ended");
    running_ = std::move(*running);
    feed(DomainsChanged{running_});
    ask_expected_load(running_);
  }
  if (std::exchange(refresh_again_, false) && running) {
    refresh_inventory();
  }
}

/// Of those that the others have not.
void Service::say_who_runs(const std::vector<placement::VmDescription>& vms,
                           const std::vector<placement::VmDescription>& others,
                           std::string_view what) {
  std::set<placement::VmId> known;
  for (const placement::VmDescription& vm : others) {
    known.insert(vm.id);
  }
  for (const placement::VmDescription& vm : vms) {
    if (!known.contains(vm.id)) {
      say({Severity::kInfo, fmt::format("VM '{}' {}", vm.name, what), {{"VM", vm.name}}});
    }
  }
}

void Service::ask_expected_load(const std::vector<placement::VmDescription>& running) {
  std::set<placement::VmId> now;
  for (const placement::VmDescription& vm : running) {
    now.insert(vm.id);
    if (known_.contains(vm.id)) {
      continue;
    }
    with_history([this, id = vm.id](stats::History& history) -> Result<void> {
      Result<std::optional<placement::Permille>> usual = history.cpu_p95_permille(id);
      if (!usual) {
        return tl::unexpected(std::move(usual).error());
      }
      if (*usual) {
        boost::asio::post(context_, [this, id, load = **usual] { feed(LoadExpected{id, load}); });
      }
      return {};
    });
  }
  known_ = std::move(now);
}

// ---- signals ----

void Service::log_notices() {
  for (const std::string& notice : setup_.config.notices) {
    say(Severity::kWarning, notice);
  }
}

void Service::reload() {
  (void)sd_notify(0, "RELOADING=1");
  Result<Config> config = setup_.reload();
  if (!config) {
    say(Severity::kError, fmt::format("configuration not read again, going on with the old one: {}",
                                      config.error().message));
  } else {
    const bool needs_restart =
        config->hypervisor != setup_.config.hypervisor || config->uri != setup_.config.uri ||
        config->socket_path != setup_.config.socket_path ||
        config->socket_group != setup_.config.socket_group ||
        config->state_dir != setup_.config.state_dir || config->history != setup_.config.history;
    if (needs_restart) {
      say(Severity::kWarning,
          "hypervisor, uri, socket_path, socket_group, state_dir and what [history] says change "
          "with the next start");
    }
    setup_.config.mode = config->mode;
    setup_.config.options = config->options;
    setup_.config.vms = config->vms;
    setup_.config.metadata_wins = config->metadata_wins;
    setup_.config.origins = config->origins;
    setup_.config.on_stop = config->on_stop;
    setup_.config.foreign_pins = config->foreign_pins;
    setup_.config.strategy = config->strategy;
    const bool other_distances = setup_.config.distances != config->distances;
    setup_.config.distances = config->distances;
    setup_.config.admission = config->admission;
    setup_.config.reserved_memory = config->reserved_memory;
    setup_.config.preset = config->preset;
    setup_.config.log_level = config->log_level;
    setup_.config.notices = config->notices;
    log_.set_level(config->log_level);
    log_notices();
    feed(ConfigChanged{settings_of(*config)});
    if (other_distances) {
      tell_topology();
    }
  }
  (void)sd_notify(0, "READY=1");
}

void Service::stop() {
  (void)sd_notify(0, "STOPPING=1");
  const bool restore = setup_.config.on_stop == OnStop::kRestore;
  say(Severity::kNotice, restore ? "stopping; VMs are given back as they were found"
                                 : "stopping; VMs stay where they are");
  take_nothing_more();
  if (restore) {
    give_back();
  }
  end();
}

void Service::take_nothing_more() {
  stopping_ = true;
  epoch_timer_.cancel();
  look_timer_.cancel();
  socket_.reset();
}

void Service::give_back() {
  using std::chrono::steady_clock;
  const auto until = steady_clock::now() + kRestorePatience;
  setup_.signals.allow_until(until + Signals::kPatience);
  feed(Stopping{/*restore=*/true});
  (void)place_.note("giving VMs back");
  const bool moved = executor_->finish({kRestorePatience, kRestoreStepPatience});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
  const bool limited = memory_worker_->drain({left, kRestoreStepPatience});
  if (!moved || !limited) {
    say(Severity::kWarning, "not all VMs could be given back, the others stay as they are");
  }
  setup_.signals.allow_until(steady_clock::now() + Signals::kPatience);
}

/// Whatever hangs, what can be written down is.
void Service::end() {
  const auto began = std::chrono::steady_clock::now();
  const auto until = [began](std::chrono::milliseconds limit) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        began + limit - std::chrono::steady_clock::now());
    return Patience{left, kHangs};
  };
  (void)place_.note("letting actions come to rest");
  if (!executor_->stop(until(kActionsAtRest).all)) {
    say(Severity::kWarning, "not all actions came to rest, the next start takes them up");
  }
  (void)place_.note("setting memory limits");
  if (!memory_worker_->drain(until(kMemorySet))) {
    say(Severity::kWarning, "not all memory limits were set");
  }
  (void)place_.note("writing the history");
  if (!history_worker_.drain(until(kHistoryWritten))) {
    say(Severity::kWarning, "not all of the history was written");
  }
  (void)place_.note("closing the connections");
  context_.stop();
}

}  // namespace vmnuma::balancer
