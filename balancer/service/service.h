// SPDX-License-Identifier: Apache-2.0
/// The daemon: gives the controller events and carries its effects to where they belong.
///
/// Problem: sampling, libvirt, page moves and SQLite all block, each for its own time, and each may
/// block for ever; decisions must never wait for them, nor may the end of the daemon. Approach: one
/// Asio thread runs the controller, the socket and timers. Workers do what blocks: *sampler* (files
/// of the kernel), *libvirt* (its events and descriptions), *executor* (pins and page moves),
/// *memory* (limits of units, through systemd), *history* (SQLite), *forecast*, *latency*, which at
/// the start measures once how far the nodes' memory is, *room-search* (room_search_worker.h), and
/// two that answer what changes nothing (questions.h). What they do to the host, and what time it
/// is there, is behind one port (host.h). Values travel between them, nothing is shared. All of
/// them are on a board (task_board.h), which the service looks at once a second.
///
/// Properties:
///  - an epoch whose sampling is not finished is skipped, not queued;
///  - a worker whose task takes longer than it may is a missing source until it has ended, and with
///    it the mode is degraded;
///  - the service manager's watchdog is told of each epoch that was measured, so it starves if
///    epochs stop;
///  - while libvirt is gone it is asked again ever less often, and nothing is ordered;
///  - a full or failing disk costs history, never the service, and a history that could not be
///    opened at the start is tried again and then started over with;
///  - after a stop was asked for, nothing is waited for longer than signals.h says: actions come to
///    rest, then the history is written, then all is closed. Before that VMs are given back, for at
///    most kRestorePatience, if that is asked for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "balancer/config/config.h"
#include "balancer/controller/controller.h"
#include "balancer/record/recorder.h"
#include "balancer/service/backoff.h"
#include "balancer/service/control_socket.h"
#include "balancer/service/executor_worker.h"
#include "balancer/service/forecast_worker.h"
#include "balancer/service/history_journal.h"
#include "balancer/service/host.h"
#include "balancer/service/latency_schedule.h"
#include "balancer/service/log.h"
#include "balancer/service/memory_worker.h"
#include "balancer/service/questions.h"
#include "balancer/service/recent_events.h"
#include "balancer/service/room_search_worker.h"
#include "balancer/service/signals.h"
#include "balancer/service/task_board.h"
#include "balancer/service/worker.h"
#include "stats/history/history.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::balancer {

struct ServiceSetup {
  TaskBoard& board;
  Signals& signals;
  Config config;
  std::function<Result<Config>()> reload;  ///< reads the configuration again, for SIGHUP
  std::unique_ptr<Host> host;
  std::unique_ptr<stats::History> history;  ///< null: go on without
  std::string history_problem;              ///< why, if null
  /// Whether it could be opened by now. Blocks.
  std::function<Result<void>()> try_history;
  std::int64_t last_action = 0;  ///< the highest number in the history
  std::string search_program;    ///< path of `vmnuma`, which searches for moves; empty: none
};

class Service {
 public:
  /// Why run() has returned.
  enum class End { kStopped, kStartOver };

  /// Errors: of the socket.
  [[nodiscard]] static Result<std::unique_ptr<Service>> create(ServiceSetup setup);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Runs until it is told to stop, or has to be made anew because the history can be opened now.
  /// The caller's thread.
  [[nodiscard]] End run();

 private:
  /// For giving all VMs back at the end; the unit's TimeoutStopSec is longer.
  static constexpr std::chrono::seconds kRestorePatience{60};
  /// A step of it that takes longer hangs.
  static constexpr std::chrono::seconds kRestoreStepPatience{3};
  static constexpr std::chrono::seconds kLookEvery{1};

  explicit Service(ServiceSetup setup);
  [[nodiscard]] std::int64_t wall_now() const;
  [[nodiscard]] stats::WallTime history_now() const;
  void say(const LogLine& line);
  void say(Severity severity, std::string message) { say({severity, std::move(message), {}}); }
  void feed(const Event& event);
  [[nodiscard]] Effects take(const Event& event);
  void carry_out(Effects effects);
  void reply(const Reply& reply);
  void write_policy(PolicyWrite policy);
  void play(std::int64_t token, std::int64_t id, const PlayCommand& command);
  void persist(std::int64_t token, const OptionsSetRequest& request);
  void set_option(std::int64_t token, OptionsSetRequest request, const Result<void>& kept);
  void answer_history(std::int64_t token, std::int64_t id,
                      std::function<Result<Answer>(stats::History&)> look);
  void answer_events(std::int64_t token, std::int64_t id, const EventsRequest& request);
  [[nodiscard]] Config config_now() const;
  void look_back(std::int64_t token, std::int64_t id,
                 std::function<Result<Answer>(stats::History&)> look);
  void on_request(std::int64_t token, const Peer& peer, const Request& request);
  [[nodiscard]] std::shared_ptr<const Controller> copy_of_controller();
  [[nodiscard]] Questions::Reply reply_line();
  void on_epoch();
  void on_topology(placement::Topology topology);
  void arm_epoch();
  void look_at_workers();
  void arm_look();
  void try_history();
  void set_source(const std::string& source, const std::string& reason);
  void tell_source(const std::string& source);
  void refresh_inventory();
  void on_inventory(Result<std::vector<placement::VmDescription>> running);
  void say_who_runs(const std::vector<placement::VmDescription>& vms,
                    const std::vector<placement::VmDescription>& others, std::string_view what);
  void ask_expected_load(const std::vector<placement::VmDescription>& running);
  void keep_admission();
  void with_history(std::function<Result<void>(stats::History&)> task);
  void find_host_latencies();
  void log_notices();
  void tell_topology();
  void reload();
  void stop();
  void take_nothing_more();
  void give_back();
  void end();

  boost::asio::io_context context_;  ///< outlives the host, which posts to it
  ServiceSetup setup_;
  Host& host_;
  const HostTime time_;
  placement::Topology topology_;
  Log log_;
  RecentEvents events_;
  boost::asio::steady_timer epoch_timer_;
  boost::asio::steady_timer look_timer_;
  std::chrono::steady_clock::time_point next_epoch_;
  HistoryJournal journal_;
  Controller controller_;
  std::shared_ptr<const Controller> copy_;  ///< shared with questions; null after an event
  Recorder recorder_;
  std::unique_ptr<ControlSocket> socket_;
  std::vector<placement::VmDescription> running_;
  stats::HostLatencies host_latencies_;
  LatencySchedule latency_schedule_;
  std::string latencies_said_;
  std::map<std::int64_t, std::int64_t> waiting_;  ///< token to request id
  std::set<placement::VmId> known_;
  std::set<placement::VmId> transferring_;
  AdmissionState admission_;  ///< as last told by the controller
  std::chrono::steady_clock::time_point admission_kept_at_;
  std::string admission_problem_;  ///< the history worker's alone
  std::int64_t sequence_ = 0;
  std::int64_t lost_epochs_ = 0;               ///< not written, the history was too slow
  std::map<std::string, std::string> faults_;  ///< by source: what it answered last
  std::map<std::string, std::string> hangs_;   ///< by source: what takes too long
  Backoff libvirt_backoff_{std::chrono::seconds(2), std::chrono::seconds(30)};
  Backoff history_backoff_{std::chrono::seconds(5), std::chrono::seconds(60)};
  bool sampling_ = false;
  bool refreshing_ = false;
  bool refresh_again_ = false;
  std::atomic<bool> stopping_ = false;  ///< ends a measurement early
  End end_ = End::kStopped;
  TaskBoard::Place place_;  ///< of the end, which closes connections
  // Last, so that their threads end before what they use.
  Worker history_worker_;
  Worker sampler_worker_;
  Worker inventory_worker_;
  Worker latency_worker_;
  Questions short_questions_;  ///< that take as long as an answer is large
  Questions long_questions_;   ///< that weigh moves, or tell the whole state
  std::unique_ptr<ExecutorWorker> executor_;
  std::unique_ptr<MemoryWorker> memory_worker_;
  std::unique_ptr<ForecastWorker> forecast_worker_;
  std::unique_ptr<RoomSearchWorker> room_search_worker_;
};

}  // namespace vmnuma::balancer
