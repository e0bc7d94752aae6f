// SPDX-License-Identifier: Apache-2.0
/// Shows the progress of long work on one line of standard error.
///
/// Properties, each with a test:
///  - nothing is written if standard error is not a terminal, or with --json or --watch;
///  - the line is removed when the work is done or something else is printed;
///  - an unchanged line is not written again;
///  - the line fits into kTerminalWidth.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// Returns the line: "boot-storm  [#######.............]  37 %  epoch 74 of 200". While the total
/// is unknown, `all` is zero or less, and there is neither a bar nor a share. `note` is truncated
/// to fit.
[[nodiscard]] std::string progress_line(const std::string& what, std::int64_t done,
                                        std::int64_t all, const std::string& note);

class ProgressBar {
 public:
  /// `what` names the work.
  ProgressBar(const Context& context, std::string what);
  ~ProgressBar() { hide(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::int64_t done, std::int64_t all, const std::string& note);
  /// Call before something else is printed.
  void hide();
  /// Returns whether the line is visible; if not, nothing needs to be computed for it.
  [[nodiscard]] bool is_shown() const { return shown_; }

 private:
  std::ostream& err_;
  bool shown_;
  bool colours_;
  std::string what_;
  std::string line_;  ///< what is on the terminal now
};

}  // namespace vmnuma::tools
