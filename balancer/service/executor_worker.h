// SPDX-License-Identifier: Apache-2.0
/// The executor on a thread of its own: steps it when due and passes on its reports.
///
/// Properties: the executor is used on this thread only; `on_progress` is called there and must
/// only forward the reports; stop() gives actions at most the given time to reach a state that the
/// journal can close, and begins nothing more, whether or not they have reached it.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "balancer/service/host_time.h"
#include "balancer/service/worker.h"
#include "migration/executor.h"

namespace vmnuma::balancer {

class ExecutorWorker {
 public:
  using OnProgress = std::function<void(std::vector<migration::ActionEvent>,
                                        std::vector<migration::TransferProgress>)>;

  /// The ports must outlive this object and are used on its thread only. `time` is that of the
  /// balanced host.
  ExecutorWorker(TaskBoard& board, migration::DomainControl& control, migration::PageMover& mover,
                 migration::Journal& journal, migration::Limits limits, OnProgress on_progress,
                 HostTime time = {});

  ~ExecutorWorker();
  ExecutorWorker(const ExecutorWorker&) = delete;
  ExecutorWorker& operator=(const ExecutorWorker&) = delete;

  /// Finishes or reverts what an earlier run left open. To be called before the first submit. Any
  /// thread.
  void recover();
  void submit(std::vector<migration::Order> orders);
  void cancel(std::vector<VmId> vms);
  void pause(bool paused);
  void set_memory_pressure(bool high);
  void set_limits(migration::Limits limits);
  /// Carries out everything submitted, for at most the given time; false if that was too short, or
  /// if a single step exceeded its limit. Blocks. Not to be called on this worker's thread.
  [[nodiscard]] bool finish(Patience patience);
  /// Stops page moves where they are and lets pins settle, for at most the given time; false if
  /// that was too short. Nothing is begun afterwards. To be called once, and not on this worker's
  /// thread.
  [[nodiscard]] bool stop(std::chrono::milliseconds patience);

 private:
  void try_to_recover();
  void cancel_now(const std::vector<VmId>& vms);
  void pump();
  void pump_at(Microseconds when);
  void report(std::vector<migration::ActionEvent> events);

  const HostTime time_;
  migration::Journal& journal_;
  migration::Executor executor_;
  OnProgress on_progress_;
  std::chrono::steady_clock::time_point last_report_{};
  /// Set once nothing is left to do; shared, because the waiting side may give up first.
  std::shared_ptr<std::promise<void>> idle_;
  Worker worker_;
  // Used on the worker's thread only.
  std::unique_ptr<boost::asio::steady_timer> timer_;
  std::unique_ptr<boost::asio::steady_timer> recovery_timer_;
  int recovery_tries_ = 0;              ///< remaining; 0 unless the journal could not be read yet
  std::vector<migration::Order> held_;  ///< until the journal has been read
  std::vector<VmId> held_cancels_;
};

}  // namespace vmnuma::balancer
