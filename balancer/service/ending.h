// SPDX-License-Identifier: Apache-2.0
/// Orderly shutdown of the daemon.
///
/// Properties: no wait is longer than signals.h allows, or kRestorePatience if VMs are restored;
/// even if something hangs, everything that can be recorded is recorded: actions settle, then
/// memory limits are set, then the history is written; what was not done is logged.
#pragma once

#include <chrono>

#include "balancer/service/event_log.h"
#include "balancer/service/executor_worker.h"
#include "balancer/service/history_worker.h"
#include "balancer/service/memory_worker.h"
#include "balancer/service/signals.h"
#include "balancer/service/task_board.h"

namespace vmnuma::balancer {

/// The service's thread only.
class Ending {
 public:
  /// The time limit for restoring all VMs; the unit's TimeoutStopSec is longer.
  static constexpr std::chrono::seconds kRestorePatience{60};

  struct Workers {
    ExecutorWorker& executor;
    MemoryWorker& memory;
    HistoryWorker& history;
  };

  /// All arguments must outlive this object.
  Ending(TaskBoard& board, Signals& signals, EventLog& log);

  /// Waits until VMs are restored, which was ordered before.
  void restore(const Workers& workers);
  /// Stops the workers.
  void end(const Workers& workers);

 private:
  Signals& signals_;
  EventLog& log_;
  TaskBoard::Place place_;  ///< of the shutdown, which closes the connections at its end
};

}  // namespace vmnuma::balancer
