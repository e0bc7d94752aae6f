// SPDX-License-Identifier: Apache-2.0
/// A thread for writing to the history, reading from it, and other disk I/O.
///
/// Properties: tasks are done in the order in which they were requested; without a history nothing
/// is written to it or read from it, but other disk I/O is done; if the disk is too slow, history
/// is lost, which is logged once.
#pragma once

#include <functional>
#include <string>

#include "balancer/service/event_log.h"
#include "balancer/service/worker.h"
#include "placement/base/result.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

class HistoryWorker {
 public:
  /// Receives the reason why the last write failed; empty if it succeeded. Called on the worker's
  /// thread.
  using OnWritten = std::function<void(std::string problem)>;

  /// `history` may be null; it and `log` must outlive this object.
  HistoryWorker(TaskBoard& board, stats::History* history, EventLog& log, OnWritten on_written);

  [[nodiscard]] bool has_history() const { return history_ != nullptr; }
  /// Queues a write. The service's thread only.
  void write(std::function<Result<void>(stats::History&)> task);
  /// Queues a read; there must be a history. False if too much is queued already. Any thread.
  [[nodiscard]] bool read(std::function<void(stats::History&)> task);
  /// See Worker::post().
  [[nodiscard]] bool post(std::string doing, std::function<void()> task);
  /// See Worker::drain().
  [[nodiscard]] bool drain(Patience patience) { return worker_.drain(patience); }

 private:
  stats::History* history_;
  EventLog& log_;
  OnWritten on_written_;
  bool left_something_out_ = false;
  Worker worker_;  // last, so that its thread ends before what it uses
};

}  // namespace vmnuma::balancer
