// SPDX-License-Identifier: Apache-2.0
/// One line on standard error that shows the progress of long work.
///
/// Properties, each with a test: nothing is written if standard error is no terminal, with --json
/// or with --watch; the line is gone when the work is done or something else is printed; an
/// unchanged line is not written again; it fits into kTerminalWidth.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// "boot-storm  [#######.............]  37 %  epoch 74 of 200". While `all` is zero or less,
/// nothing is known: then there is neither a bar nor a share. `note` is truncated to fit.
[[nodiscard]] std::string progress_line(const std::string& what, std::int64_t done,
                                        std::int64_t all, const std::string& note);

class ProgressBar {
 public:
  /// `what` names the work.
  ProgressBar(Surroundings& surroundings, const Invocation& invocation, std::string what);
  ~ProgressBar() { hide(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done, std::int64_t all, const std::string& note);
  /// To be called before something else is printed.
  void hide();
  /// False: it is not visible, so nothing need be computed for it.
  [[nodiscard]] bool is_shown() const { return shown_; }

 private:
  std::ostream& err_;
  bool shown_;
  bool colours_;
  std::string what_;
  std::string line_;  ///< what is on the terminal now
};

}  // namespace vmnuma::tools
