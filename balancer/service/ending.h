// SPDX-License-Identifier: Apache-2.0
/// The daemon's orderly end.
///
/// Properties: nothing is waited for longer than signals.h says, or kRestorePatience where VMs are
/// restored; whatever hangs, what can be written down is: actions come to rest, then memory limits
/// are set, then the history is written; what was not done is said.
#pragma once

#include <chrono>

#include "balancer/service/event_log.h"
#include "balancer/service/executor_worker.h"
#include "balancer/service/history_worker.h"
#include "balancer/service/memory_worker.h"
#include "balancer/service/signals.h"
#include "balancer/service/task_board.h"

namespace vmnuma::balancer {

/// The service's thread.
class Ending {
 public:
  /// For restoring all VMs; the unit's TimeoutStopSec is longer.
  static constexpr std::chrono::seconds kRestorePatience{60};

  struct Workers {
    ExecutorWorker& executor;
    MemoryWorker& memory;
    HistoryWorker& history;
  };

  /// All must outlive this object.
  Ending(TaskBoard& board, Signals& signals, EventLog& log);

  /// Waits until what restores VMs is done. It was ordered before.
  void restore(const Workers& workers);
  /// Ends what the workers do.
  void end(const Workers& workers);

 private:
  Signals& signals_;
  EventLog& log_;
  TaskBoard::Place place_;  ///< of the end, which then closes connections
};

}  // namespace vmnuma::balancer
