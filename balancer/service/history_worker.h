// SPDX-License-Identifier: Apache-2.0
/// Writes to the history and reads from it, and whatever else needs the disk, on a thread of its
/// own.
///
/// Properties: what is asked for is done in that order; without a history nothing is written and
/// nothing read, and the disk's other work is done; a disk that is too slow costs history, which is
/// said once.
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
  /// Why the last writing failed; empty if it did not. Called on the worker's thread.
  using OnWritten = std::function<void(std::string problem)>;

  /// `history` may be null; it and `log` must outlive this object.
  HistoryWorker(TaskBoard& board, stats::History* history, EventLog& log, OnWritten on_written);

  [[nodiscard]] bool has_history() const { return history_ != nullptr; }
  /// The service's thread.
  void write(std::function<Result<void>(stats::History&)> task);
  /// False if there is too much to do already. There must be a history. Any thread.
  [[nodiscard]] bool read(std::function<void(stats::History&)> task);
  /// As Worker::post().
  [[nodiscard]] bool post(std::string doing, std::function<void()> task);
  /// As Worker::drain().
  [[nodiscard]] bool drain(Patience patience) { return worker_.drain(patience); }

 private:
  stats::History* history_;
  EventLog& log_;
  OnWritten on_written_;
  bool left_something_out_ = false;
  Worker worker_;  // last, so that its thread ends before what it uses
};

}  // namespace vmnuma::balancer
