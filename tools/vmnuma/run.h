// SPDX-License-Identifier: Apache-2.0
/// Carries out what the command line asks for: asks the daemon and prints its answer.
///
/// Properties: what was asked for goes to standard output and nothing else does; an error is one
/// message on standard error that says what is wrong; the exit code tells a refusal from a wrong
/// command line and from an absent daemon.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>

#include "tools/vmnuma/invocation.h"
#include "tools/vmnuma/top/top_terminal.h"

namespace vmnuma::tools {

/// What the program meets outside.
struct Surroundings {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  /// Waits; false = stop instead of going on.
  std::function<bool(std::chrono::milliseconds)> pause;
  std::chrono::milliseconds time_limit{5000};  ///< for each answer of the daemon
  bool colours = false;  ///< standard output shows colours and nobody has said NO_COLOR
  bool err_is_terminal = false;
  bool err_colours = false;  ///< of standard error
  /// Takes the terminal over for `top`; empty where there is none.
  std::function<Result<std::unique_ptr<TopTerminal>>()> open_terminal{};
};

/// Returns the exit code.
[[nodiscard]] int run(const Invocation& invocation, Surroundings& surroundings);

}  // namespace vmnuma::tools
