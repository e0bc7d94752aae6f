// SPDX-License-Identifier: Apache-2.0
/// The controller of a running daemon: every event passes through the recorder on its way, and
/// questions (questions.h) are answered from a copy.
///
/// Property: however many questions there are, the controller is copied at most once per event.
#pragma once

#include <memory>
#include <utility>

#include "balancer/controller/controller.h"
#include "balancer/record/recorder.h"

namespace vmnuma::balancer {

/// One thread.
class LiveController {
 public:
  explicit LiveController(ControllerSetup setup) : controller_(std::move(setup)) {}

  [[nodiscard]] Effects take(const Event& event) {
    copy_.reset();
    return recorder_.pass(controller_, event);
  }
  /// Valid until the next event.
  [[nodiscard]] const Controller& now() const { return controller_; }
  /// The copy that answers questions until the next event; it never changes.
  [[nodiscard]] std::shared_ptr<const Controller> copy() {
    if (copy_ == nullptr) {
      copy_ = std::make_shared<const Controller>(controller_);
    }
    return copy_;
  }
  /// Answers a command about a recording, as Recorder does.
  [[nodiscard]] Result<Answer> record(const Command& command) {
    return recorder_.answer(command, controller_);
  }

 private:
  Controller controller_;
  Recorder recorder_;
  std::shared_ptr<const Controller> copy_;  ///< null after an event
};

}  // namespace vmnuma::balancer
