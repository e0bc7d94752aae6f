// SPDX-License-Identifier: Apache-2.0
/// Goes through a recording line by line, with the controller that stood behind it.
///
/// Approach: a header gives the controller, and every event is held against what that controller
/// knows before it is given to it, by whoever reads: to compare plans (replay.h), or to look at the
/// host as it was (`vmnumad --replay`). Properties:
///  1. Nothing comes out before a header did.
///  2. A line that is missing or damaged is an error, and so is everything after it.
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
  /// Reads the next line. A header's controller takes the place of the one before; an event is
  /// still to be given to it. Errors, with the line's number: corrupt, unsupported.
  [[nodiscard]] Result<FrameContent> take(const std::string& line);

  [[nodiscard]] bool has_begun() const { return controller_ != nullptr; }
  /// There must have been a header.
  [[nodiscard]] Controller& controller() { return *controller_; }
  /// Of the line that was taken last, from 1.
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  std::size_t line_ = 0;
  std::shared_ptr<Controller> controller_;
};

}  // namespace vmnuma::balancer
