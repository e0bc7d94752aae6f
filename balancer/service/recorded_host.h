// SPDX-License-Identifier: Apache-2.0
/// A host as it was when a recording was made, one epoch after the other.
///
/// Problem: what happened on a host at night should be examined elsewhere, with the usual commands,
/// `top` and dashboard. Approach: the recorded events are passed to the recorded controller, which
/// then answers as it did; the effects it requests are not carried out. Its recorded actions and
/// epochs are written into a history of their own, so that `history` and `report` have what they
/// need. Going back means starting again and stopping earlier.
///
/// Properties:
///  1. After an epoch, however it was reached, answers are those that the daemon gave after it.
///  2. Nothing can be changed; the error gives the reason.
///  3. A recording that ends early, or is damaged, stops at its last good epoch.
///  4. If it cannot go somewhere it stays where it is.
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

/// Blocks while reading files. One thread at a time.
class RecordedHost {
 public:
  struct Setup {
    std::string path;  ///< of the recording
    /// Returns an empty history. Called again when time goes back.
    std::function<Result<std::unique_ptr<stats::History>>()> empty_history;
    /// Receives what was logged at the time. Not called when time goes back.
    std::function<void(const LogLine&)> say;
    /// Called between epochs; true ends a step early.
    std::function<bool()> is_stopped = [] { return false; };
  };

  /// Opens a recording, positioned after the first epoch. Errors: not-found, invalid-argument (not
  /// a regular file), permission-denied, io, corrupt, unsupported (of the recording), and those of
  /// the history.
  [[nodiscard]] static Result<std::unique_ptr<RecordedHost>> open(Setup setup);
  ~RecordedHost();

  /// Goes forward by this many epochs, or back if negative; at most to the last or the first.
  /// Errors: those of open(); the position is then unchanged.
  [[nodiscard]] Result<void> step(std::int64_t epochs);

  /// The number of the recording's epochs played so far, at least 1.
  [[nodiscard]] std::int64_t position() const;
  /// Why it cannot go further, as a sentence; empty if it can.
  [[nodiscard]] const std::string& end() const;
  [[nodiscard]] std::chrono::milliseconds epoch_length() const;

  /// Answers a command that changes nothing. Error: unsupported (any other command, and latencies,
  /// which no recording contains).
  [[nodiscard]] Result<Answer> answer(const Command& question);

 private:
  class Showing;  ///< from the beginning to some epoch; forward only

  explicit RecordedHost(Setup setup);
  [[nodiscard]] Result<std::unique_ptr<Showing>> begin() const;

  const Setup setup_;
  std::unique_ptr<Showing> showing_;
};

}  // namespace vmnuma::balancer
