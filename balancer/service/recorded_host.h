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
///  4. Where it cannot go it stays where it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "balancer/controller/events.h"
#include "balancer/protocol/response.h"
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

  /// After the first epoch. Errors: not-found, invalid-argument (not a regular file),
  /// permission-denied, io, corrupt, unsupported (of the recording), and those of the history.
  [[nodiscard]] static Result<std::unique_ptr<RecordedHost>> open(Setup setup);
  ~RecordedHost();

  /// So many epochs on, or back; at most to the last and to the first. Errors: those of open(), and
  /// then it stays where it was.
  [[nodiscard]] Result<void> step(std::int64_t epochs);

  /// How many of the recording's epochs have been, at least 1.
  [[nodiscard]] std::int64_t position() const;
  /// Why it goes on no further, a sentence; empty if it does.
  [[nodiscard]] const std::string& end() const;
  [[nodiscard]] std::chrono::milliseconds epoch_length() const;

  /// Answers a command that changes nothing. Error: unsupported (any other, and latencies, which
  /// are in no recording).
  [[nodiscard]] Result<Answer> answer(const Command& question);

 private:
  class Showing;  ///< from the beginning to some epoch; only goes on

  explicit RecordedHost(Setup setup);
  [[nodiscard]] Result<std::unique_ptr<Showing>> begin() const;

  const Setup setup_;
  std::unique_ptr<Showing> showing_;
};

}  // namespace vmnuma::balancer
