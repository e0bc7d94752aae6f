// SPDX-License-Identifier: Apache-2.0
/// What a command meets outside the program.
#pragma once

#include <chrono>
#include <functional>
#include <istream>
#include <memory>
#include <ostream>

#include "placement/base/result.h"

namespace vmnuma::tools {

class TopTerminal;

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
  std::istream* in = nullptr;  ///< where questions are answered; null: nobody is there
};

}  // namespace vmnuma::tools
