// SPDX-License-Identifier: Apache-2.0
/// The daemon: gives the controller events and carries its effects to where they belong.
///
/// Problem: sampling, libvirt, page moves and SQLite all block, each for its own time, and each may
/// block for ever; decisions must never wait for them, nor may the end of the daemon. Approach: one
/// Asio thread runs the controller, the socket and timers. Workers do what blocks: *sampler* (files
/// of the kernel), *libvirt* (running_vms.h), *executor* (pins and page moves), *memory* (limits of
/// units, through systemd), *history* (history_worker.h), *forecast*, *latency* (latency_worker.h),
/// *room-search* (room_search_worker.h), and two that answer what changes nothing (questions.h).
/// What they do to the host, and what time it is there, is behind one port (host.h). Values travel
/// between them, nothing is shared. All of them are on a board (task_board.h), which the service
/// looks at once a second.
///
/// Properties:
///  - an epoch whose sampling is not finished is skipped, not queued;
///  - a worker whose task takes longer than it may is a missing source (sources.h) until it has
///    ended, and with it the mode is degraded;
///  - the service manager's watchdog is told of each epoch that was measured, so it starves if
///    epochs stop;
///  - while libvirt is gone nothing is ordered;
///  - a full or failing disk costs history, never the service, and a history that could not be
///    opened at the start is tried again and then started over with;
///  - after a stop was asked for, nothing is waited for longer than ending.h says.
///
/// It has more members than most classes: one for each worker and each part of the daemon, which it
/// puts together.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "balancer/service/admission_keeper.h"
#include "balancer/service/ending.h"
#include "balancer/service/forecast_worker.h"
#include "balancer/service/history_journal.h"
#include "balancer/service/requests.h"
#include "balancer/service/room_search_worker.h"
#include "balancer/service/service_setup.h"
#include "balancer/service/sources.h"

namespace vmnuma::balancer {

/// Its members are the parts of the daemon, in the reverse order of their ends; its functions hand
/// what one part has to say to others.
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
  static constexpr std::chrono::seconds kLookEvery{1};

  explicit Service(ServiceSetup setup);
  /// Runs the task on the service's thread. Any thread.
  template <typename Task>
  void post(Task task);
  void feed(const Event& event);
  void carry_out(Effects effects);
  void remember(Effects& effects);
  void on_progress(std::vector<migration::ActionEvent> events,
                   std::vector<migration::TransferProgress> transfers);
  void on_vms(const RunningVms::Told& told);
  void ask_expected_load(const placement::VmId& vm);
  void arm_epoch();
  void on_epoch();
  void on_reading(HostReading reading, std::chrono::steady_clock::time_point due);
  void tell_topology();
  void arm_look();
  void look_at_workers();
  void try_history();
  void set_source(const std::string& source, std::string problem);
  void tell_source(const std::string& source);
  void tell_notices();
  void reload();
  void stop();
  void take_nothing_more();
  [[nodiscard]] Ending::Workers workers_to_end();

  boost::asio::io_context context_;  ///< outlives the host, which posts to it
  ServiceSetup setup_;
  Host& host_;
  const HostTime time_;
  placement::Topology topology_;
  EventLog log_;
  Sources sources_;
  LiveController controller_;
  HistoryJournal journal_;
  Ending ending_;
  boost::asio::steady_timer epoch_timer_;
  boost::asio::steady_timer look_timer_;
  std::chrono::steady_clock::time_point next_epoch_;
  std::int64_t sequence_ = 0;
  bool sampling_ = false;
  std::set<placement::VmId> transferring_;
  Backoff history_backoff_{std::chrono::seconds(5), std::chrono::seconds(60)};
  End end_ = End::kStopped;
  // Last, so that their threads end before what they use.
  HistoryWorker history_;
  Worker sampler_;
  RunningVms vms_;
  LatencyWorker latencies_;
  AdmissionKeeper admission_;
  ExecutorWorker executor_;
  MemoryWorker memory_;
  ForecastWorker forecasts_;
  RoomSearchWorker room_search_;
  Requests requests_;
};

}  // namespace vmnuma::balancer
