// SPDX-License-Identifier: Apache-2.0
/// Sits in front of the controller and records its input and its plans.
///
/// Approach: every event passes through here on its way to the controller. While a recording is
/// under way its lines are kept until a client takes them; if none does for a while, or too slowly,
/// the recording ends. Terms: frames are those of frame.h. Properties: the controller is not
/// affected; the kept data is bounded; a recording begun at any time can be replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balancer/controller/controller.h"
#include "balancer/record/anonymizer.h"

namespace vmnuma::balancer {

class Recorder {
 public:
  /// A recording ends after this many epochs in which no client takes lines.
  static constexpr std::int64_t kPatience = 30;
  /// The limit for lines that have not been taken yet.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  /// Begins a recording of this many epochs, or until it is ended; or continues the current one
  /// after a restart of the daemon.
  void begin(const Controller& controller, bool anonymize, std::optional<std::int64_t> epochs);
  void end(std::string why);
  [[nodiscard]] bool running() const { return running_; }

  /// Passes the event to the controller and records what matters.
  Effects pass(Controller& controller, const Event& event);

  /// Returns the lines written since the last call, each with its '\n'; at most about `most_bytes`,
  /// but at least one line if there is any.
  [[nodiscard]] std::vector<std::string> take_lines(std::size_t most_bytes);

  /// Answers RecordStartRequest, RecordNextRequest and RecordStopRequest. Errors: busy (another
  /// client records), not-found (no such recording).
  [[nodiscard]] Result<Answer> answer(const Command& command, const Controller& controller);

 private:
  void add(std::string line);

  bool running_ = false;
  std::string ended_because_;
  std::optional<Anonymizer> anonymizer_;
  std::int64_t recording_ = 0;  ///< number of the recording
  std::int64_t next_number_ = 0;
  std::int64_t epochs_ = 0;  ///< recorded
  std::optional<std::int64_t> most_epochs_;
  bool complete_ = false;  ///< `most_epochs_` have been recorded
  std::int64_t epochs_alone_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::string> lines_;
};

/// Answers StateRequest: the first line of a recording, without beginning one.
[[nodiscard]] Answer state_of(const Controller& controller);

}  // namespace vmnuma::balancer
