// SPDX-License-Identifier: Apache-2.0
/// Stores the originals of the running VMs once an hour.
///
/// Problem: how a VM was pinned when it was found follows from the orders since, which the history
/// deletes after a day at the earliest. Approach: once an hour the originals of all running VMs are
/// stored as such (remembered.h).
/// Properties:
///  - those of a VM that has ended are not stored, because nobody needs them;
///  - nothing is stored before it is known which VMs run.
#pragma once

#include <chrono>

#include "balancer/controller/controller.h"
#include "balancer/service/history_worker.h"

namespace vmnuma::balancer {

/// The service's thread only.
class OriginalsKeeper {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `history` must outlive this object.
  OriginalsKeeper(HistoryWorker& history, Time began) : history_(history), kept_at_(began) {}

  /// Stores them if the last time, or the beginning, was an hour ago.
  void keep_if_due(Time now, const Controller& controller);

 private:
  HistoryWorker& history_;
  Time kept_at_;
};

}  // namespace vmnuma::balancer
