// SPDX-License-Identifier: Apache-2.0
/// A host as it was while a recording was made, one epoch after the other.
///
/// Problem: what happened on somebody's host at night is to be looked at elsewhere, with the
/// commands, `top` and the dashboard that one knows. Approach: the recorded events are given to the
/// recorded controller, which then answers as it did; nothing that it wants done is done. Its
/// actions and epochs are written into a history of their own, as they were, so that `history` and
/// `report` have what they need. To go back is to begin anew and to stop earlier.
///
/// Properties:
///  1. After an epoch, however it was reached, answers are those that the daemon gave after it.
///  2. Nothing can be changed, and it is said why.
///  3. A recording that ends early, or is damaged, stands still at its last good epoch.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "balancer/controller/events.h"
#include "balancer/record/playback.h"
#include "balancer/service/recent_events.h"
#include "placement/base/result.h"
#include "stats/history/history.h"

namespace vmnuma::balancer {

/// Blocks for the time that files take. One thread at a time.
class RecordedHost {
 public:
  struct Setup {
    std::string path;  ///< of the recording
    /// A history in which nothing is. Called again when time goes back.
    std::function<Result<std::unique_ptr<stats::History>>()> empty_history;
    /// Told what was logged at the time. Not when time goes back.
    std::function<void(const LogLine&)> say;
    /// Asked between epochs; true ends a step early.
    std::function<bool()> is_stopped = [] { return false; };
  };

  /// After the first epoch. Errors: not-found, permission-denied, io, corrupt, unsupported (of the
  /// recording), and those of the history.
  [[nodiscard]] static Result<std::unique_ptr<RecordedHost>> open(Setup setup);

  /// So many epochs on, or back; at most to the first and to the last. Error: of the history.
  [[nodiscard]] Result<void> step(std::int64_t epochs);

  /// How many of the recording's epochs have been, at least 1.
  [[nodiscard]] std::int64_t position() const { return position_; }
  /// Why it goes on no further, a sentence; empty if it does.
  [[nodiscard]] const std::string& end() const { return end_; }
  [[nodiscard]] std::chrono::milliseconds epoch_length() const { return epoch_length_; }
  [[nodiscard]] const Controller& controller() { return playback_.controller(); }

  /// Answers a command that changes nothing. Error: unsupported (any other, and latencies, which
  /// are in no recording).
  [[nodiscard]] Result<Answer> answer(const Command& question);

 private:
  explicit RecordedHost(Setup setup) : setup_(std::move(setup)) {}
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<void> advance();
  [[nodiscard]] Result<void> take(const Event& event);
  [[nodiscard]] Result<void> keep(const Effects& effects);

  const Setup setup_;
  bool is_told_ = true;  ///< what is logged
  std::ifstream file_;
  Playback playback_;
  std::unique_ptr<stats::History> history_;
  RecentEvents events_;
  std::chrono::milliseconds epoch_length_{};
  stats::WallTime wall_{};  ///< of the last sample
  std::int64_t position_ = 0;
  std::string end_;
};

}  // namespace vmnuma::balancer
