// SPDX-License-Identifier: Apache-2.0
/// Stands before the controller and writes down what goes in and what it plans.
///
/// Approach: every event passes through here on its way to the controller. While a recording is
/// under way its lines are kept until somebody takes them; who does not come for them for a while,
/// or too slowly, ends it. Terms: frames are frame.h's. Properties: the controller never notices;
/// what is kept is bounded; a recording that was begun at any time can be replayed.
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
  /// Epochs without anybody taking lines, after which a recording ends.
  static constexpr std::int64_t kPatience = 30;
  /// Of lines that nobody has taken.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

  /// Begins a recording, of so many epochs or until it is ended; or goes on with the one under way
  /// after a restart of the daemon.
  void begin(const Controller& controller, bool anonymize, std::optional<std::int64_t> epochs);
  void end(std::string why);
  [[nodiscard]] bool running() const { return running_; }

  /// Gives the event to the controller and writes down what matters.
  Effects pass(Controller& controller, const Event& event);

  /// What was written since, each line with its '\n'; at most about `most_bytes`, but one line if
  /// there is any.
  [[nodiscard]] std::vector<std::string> take_lines(std::size_t most_bytes);

  /// Answers RecordStartRequest, RecordNextRequest and RecordStopRequest. Errors: busy (somebody
  /// else records), not-found (no such recording).
  [[nodiscard]] Result<Answer> answer(const Command& command, const Controller& controller);

 private:
  void add(std::string line);

  bool running_ = false;
  std::string ended_because_;
  std::optional<Anonymizer> anonymizer_;
  std::int64_t recording_ = 0;  ///< counts them
  std::int64_t next_number_ = 0;
  std::int64_t epochs_ = 0;  ///< recorded
  std::optional<std::int64_t> most_epochs_;
  bool complete_ = false;  ///< it has as many
  std::int64_t epochs_alone_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::string> lines_;
};

/// Answers StateRequest: the first line of a recording, without beginning one.
[[nodiscard]] Answer state_of(const Controller& controller);

}  // namespace vmnuma::balancer
