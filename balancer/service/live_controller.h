// SPDX-License-Identifier: Apache-2.0
/// The controller of a running daemon: every event passes the recorder on its way to it, and
/// questions (questions.h) are answered from a copy.
///
/// Property: however much is asked, the controller is copied once per event at most.
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
  /// Until the next event.
  [[nodiscard]] const Controller& now() const { return controller_; }
  /// What questions are answered from until the next event; then it stays as it is.
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
