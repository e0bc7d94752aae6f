// SPDX-License-Identifier: Apache-2.0
/// One line on standard error that says how far long work has come.
///
/// Properties, each with a test: where standard error is no terminal, with --json and with --watch
/// nothing is written; the line is gone when the work is done or something else is to be printed;
/// a line that has not changed is not written again; it fits into kTerminalWidth.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// "boot-storm  [#######.............]  37 %  epoch 74 of 200". Nothing is known while `all` is
/// zero or less: then there is neither a bar nor a share. `note` is cut where it does not fit.
[[nodiscard]] std::string progress_line(const std::string& what, std::int64_t done,
                                        std::int64_t all, const std::string& note);

class ProgressBar {
 public:
  /// `what` is what is being done.
  ProgressBar(Surroundings& surroundings, const Invocation& invocation, std::string what);
  ~ProgressBar() { hide(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done, std::int64_t all, const std::string& note);
  /// Before something else is printed.
  void hide();
  /// False: there is nobody to see it, so nothing need be found out for it.
  [[nodiscard]] bool is_shown() const { return shown_; }

 private:
  std::ostream& err_;
  bool shown_;
  bool colours_;
  std::string what_;
  std::string line_;  ///< what is on the terminal now
};

}  // namespace vmnuma::tools
