// SPDX-License-Identifier: Apache-2.0
/// The balancer on a simulated host: the shipped controller and executor, driven in virtual time.
///
/// Problem: the simulation must run the shipped code, and it must be possible to kill the daemon at
/// any moment. Approach: this class does only what balancer/service does with threads and timers:
/// it passes libvirt's news, samples and the executor's events to the controller, and the
/// controller's effects to the executor. Whatever a daemon keeps in its database survives stop()
/// and start().
///
/// Properties:
///  - the executor's steps are carried out one after the other; none begins before the previous one
///    has ended;
///  - no decision is made here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "balancer/controller/controller.h"
#include "balancer/record/recorder.h"
#include "migration/executor.h"
#include "placement/model/options.h"
#include "stats/forecast/load_watch.h"
#include "tools/sim/host/sim_host.h"
#include "tools/sim/host/sim_journal.h"

namespace vmnuma::tools {

/// What the daemon reported and did since the last report.
struct DaemonReport {
  std::vector<migration::Order> orders;
  std::vector<migration::ActionEvent> events;
  std::vector<balancer::OutcomeMeasured> outcomes;
  std::vector<balancer::LogLine> log;
  std::int64_t homes = 0;  ///< number of homes that it stored or forgot
};

/// The members are the daemon, while it runs, and what outlives a killed daemon.
class SimDaemon {
 public:
  SimDaemon(const Options& options, PlacementStrategy strategy, SimHost& host, Microseconds& clock);

  /// Starts it, or restarts it after stop().
  void start(Microseconds now);
  /// Kills it, so that it has no chance to clean up.
  void stop();
  [[nodiscard]] bool running() const { return running_ != nullptr; }

  /// Sets what the history knows of a VM's load in the minutes before the simulation starts.
  void remember_load(const VmId& vm, const std::vector<Permille>& minutes);
  /// Begins an epoch with its readings.
  void tick(Sample sample);
  /// Passes on libvirt's news, if there are any.
  void refresh_domains();
  void change_topology();
  /// Call when libvirt stops answering or answers again, even while the daemon does not run.
  void lose_libvirt(bool lost);
  /// Carries out all steps of the executor that begin before `until`.
  void work(Microseconds until);

  /// Call only while it runs.
  [[nodiscard]] const balancer::Controller& controller() const { return running_->controller; }
  /// Sends it a command of the control socket. Call only while it runs.
  [[nodiscard]] Result<balancer::Answer> ask(const balancer::Command& command);
  [[nodiscard]] bool executor_idle() const { return !running_ || running_->executor.idle(); }
  [[nodiscard]] SimJournal& journal() { return journal_; }
  /// Returns whether the executor carried out more steps than can be justified, as in an endless
  /// loop.
  [[nodiscard]] bool span_round() const { return span_round_; }
  [[nodiscard]] DaemonReport take_report();
  /// Starts recording: now if the daemon runs, otherwise when it starts. Continues across restarts.
  void record(bool anonymize);
  /// Returns the lines of the recording since the last call, each with its line end.
  [[nodiscard]] std::vector<std::string> take_recording();

 private:
  struct Running {
    balancer::Controller controller;
    migration::Executor executor;
    std::optional<Microseconds> next_step;
  };
  std::vector<balancer::Reply> feed(const balancer::Event& event);
  void wake_executor();
  [[nodiscard]] std::int64_t wall_now() const;

  stats::LoadWatch loads_;  ///< like the history, outlives a daemon
  balancer::Settings settings_;
  balancer::Remembered remembered_;  ///< as stored in the database
  SimHost& host_;
  Microseconds& clock_;
  SimJournal journal_;
  std::unique_ptr<Running> running_;
  Microseconds now_;             ///< of the thread that runs the controller
  Microseconds worker_free_at_;  ///< when the executor's last step ended
  bool span_round_ = false;
  bool libvirt_lost_ = false;
  DaemonReport report_;
  balancer::Recorder recorder_;
  bool records_ = false;
  bool anonymizes_ = false;
};

}  // namespace vmnuma::tools
