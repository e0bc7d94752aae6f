// SPDX-License-Identifier: Apache-2.0
/// The environment of a command.
#pragma once

#include <chrono>
#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

class TopTerminal;

struct Surroundings {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  /// Waits; returns false if the program should stop instead of continuing.
  std::function<bool(std::chrono::milliseconds)> pause;
  std::chrono::milliseconds time_limit{5000};  ///< for each answer of the daemon
  bool colours = false;  ///< standard output supports colours and NO_COLOR is not set
  bool err_is_terminal = false;
  bool err_colours = false;  ///< likewise for standard error
  /// Takes over the terminal for `top`; empty if there is none.
  std::function<Result<std::unique_ptr<TopTerminal>>()> open_terminal{};
  std::istream* in = nullptr;  ///< where questions are answered; null: there is no user
  std::string scenarios = {};  ///< directory of the scenarios that come with the program
};

}  // namespace vmnuma::tools
