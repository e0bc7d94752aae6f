// SPDX-License-Identifier: Apache-2.0
/// Goes through a recording line by line, with the recorded controller.
///
/// Approach: a header gives the controller, and every event is checked against that controller's
/// state before the caller passes it on: to compare plans (replay.h), or to look at the host as it
/// was (`vmnumad --replay`). Properties:
///  1. Nothing is returned before a header.
///  2. A missing or damaged line is an error, and so is everything after it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "balancer/record/frame.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// One thread at a time.
class Playback {
 public:
  /// Reads the next line. A header's controller replaces the previous one; the caller must still
  /// pass an event to it. Errors, with the line's number: corrupt, unsupported.
  [[nodiscard]] Result<FrameContent> take(const std::string& line);

  [[nodiscard]] bool has_begun() const { return controller_ != nullptr; }
  /// The current controller. A header must have been read.
  [[nodiscard]] Controller& controller() { return *controller_; }
  /// The number of the line taken last, from 1.
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  std::size_t line_ = 0;
  std::shared_ptr<Controller> controller_;
};

}  // namespace vmnuma::balancer
