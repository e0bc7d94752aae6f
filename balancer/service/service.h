// SPDX-License-Identifier: Apache-2.0
/// The daemon: feeds events to the controller and carries out its effects.
///
/// Problem: sampling, libvirt, page moves and SQLite all block, each for its own time, and each may
/// block forever; neither decisions nor the daemon's shutdown may wait for them. Approach: one Asio
/// thread runs the controller, the socket and timers. Workers do blocking work: *sampler* (kernel
/// files), *libvirt* (running_vms.h), *executor* (pins and page moves), *memory* (limits of units,
/// through systemd), *history* (history_worker.h), *forecast*, *latency* (latency_worker.h),
/// *room-search* (room_search_worker.h), and two that answer commands that change nothing
/// (questions.h). Access to the host, and the host's time, are behind one port (host.h). Values are
/// passed between threads, nothing is shared. All workers are on a board (task_board.h), which the
/// service checks once a second.
///
/// Properties:
///  - an epoch with unfinished sampling is skipped, not queued;
///  - a worker with an overdue task is a missing source (sources.h) until the task has ended, and
///    meanwhile the mode is degraded;
///  - the service manager's watchdog is fed after each measured epoch, so it fires if epochs stop;
///  - while libvirt is gone nothing is ordered;
///  - a full or failing disk costs history, never the service; opening a history that could not be
///    opened at the start is retried, and once it succeeds the service starts over with it;
///  - if the history is found damaged while it is open, nothing more is ordered, and once nothing
///    is under way the service starts over with a new one and keeps what it knows;
///  - after a stop was requested, no wait is longer than ending.h allows.
///
/// The class has more members than most: one for each worker and each part of the daemon, which it
/// connects.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "balancer/service/admission_keeper.h"
#include "balancer/service/ending.h"
#include "balancer/service/forecast_worker.h"
#include "balancer/service/history_journal.h"
#include "balancer/service/originals_keeper.h"
#include "balancer/service/requests.h"
#include "balancer/service/room_search_worker.h"
#include "balancer/service/service_setup.h"
#include "balancer/service/sources.h"

namespace vmnuma::balancer {

/// Members: the parts of the daemon, destroyed in reverse order. Its functions pass data from one
/// part to others.
class Service {
 public:
  /// Why run() returned.
  enum class End { kStopped, kStartOver };

  /// Errors: those of the socket.
  [[nodiscard]] static Result<std::unique_ptr<Service>> create(ServiceSetup setup);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Runs until requested to stop, or until it must be recreated because the history can now be
  /// opened, or is damaged and must be set aside. Runs on the caller's thread.
  [[nodiscard]] End run();
  /// The settings in force when run() returned, including options set while it ran.
  [[nodiscard]] const Settings& settings() const;
  /// What the next service should resume, as of when run() returned; only if the history is
  /// damaged.
  [[nodiscard]] std::optional<ControllerSetup> to_resume() const;

 private:
  static constexpr std::chrono::seconds kLookEvery{1};
  static constexpr std::chrono::hours kReplacedAtMostEvery{24};

  explicit Service(ServiceSetup setup);
  /// Runs the task on the service's thread. Any thread.
  template <typename Task>
  void post(Task task);
  void feed(const Event& event);
  void carry_out(Effects effects);
  void remember(Effects& effects);
  void on_progress(std::vector<migration::ActionEvent> events,
                   std::vector<migration::TransferProgress> transfers);
  void on_vms(const RunningVms::Report& told);
  void ask_expected_load(const VmId& vm);
  void arm_epoch();
  void on_epoch();
  void on_reading(HostReading reading, std::chrono::steady_clock::time_point due);
  void report_topology();
  void arm_look();
  void look_at_workers();
  void try_history();
  [[nodiscard]] bool replace_history(std::chrono::steady_clock::time_point now);
  void start_over(std::string_view why);
  [[nodiscard]] bool is_history_damaged() const;
  void set_source(const std::string& source, std::string problem);
  void report_source(const std::string& source);
  void report_notices();
  void reload();
  void recover_if_active();
  void stop();
  void stop_accepting();
  [[nodiscard]] Ending::Workers workers_to_end();

  boost::asio::io_context context_;  ///< outlives the host, which posts to it
  ServiceSetup setup_;
  Host& host_;
  const HostTime time_;
  Topology topology_;
  EventLog log_;
  Sources sources_;
  LiveController controller_;
  HistoryJournal journal_;
  Ending ending_;
  boost::asio::steady_timer epoch_timer_;
  boost::asio::steady_timer look_timer_;
  std::chrono::steady_clock::time_point next_epoch_;
  std::chrono::steady_clock::time_point began_;
  std::int64_t sequence_ = 0;
  bool sampling_ = false;
  bool has_recovered_ = false;
  std::set<VmId> transferring_;
  Backoff history_backoff_{std::chrono::seconds(5), std::chrono::seconds(60)};
  End end_ = End::kStopped;
  // Last, so that their threads end before what they use.
  HistoryWorker history_;
  Worker sampler_;
  RunningVms vms_;
  LatencyWorker latencies_;
  OriginalsKeeper originals_;
  AdmissionKeeper admission_;
  ExecutorWorker executor_;
  MemoryWorker memory_;
  ForecastWorker forecasts_;
  RoomSearchWorker room_search_;
  Requests requests_;
};

}  // namespace vmnuma::balancer
