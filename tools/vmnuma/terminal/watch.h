// SPDX-License-Identifier: Apache-2.0
/// Asks the daemon repeatedly, for --watch and --follow.
///
/// Properties:
///  - a restart of the daemon does not end it: while there is no answer, it keeps trying, and
///    reports that once;
///  - without an answer to the first request it ends, unless told to wait for one.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// How often the daemon is asked, and for how long.
struct Polling {
  std::int64_t seconds = 0;       ///< between two requests; 0: as often as the daemon measures
  bool waits_for_daemon = false;  ///< wait even before its first answer
  /// Returns the length of the daemon's epochs; if missing, the daemon is asked.
  std::function<std::optional<std::chrono::milliseconds>()> epoch_length{};
};

/// Calls `look` until it returns an exit code other than kExitOk, or the output is no longer
/// wanted. A failure is the daemon's refusal or that it did not answer; a wrong command line
/// (kExitUsage) ends it.
[[nodiscard]] OrFailure<int> keep_asking(const Context& context, const Polling& polling,
                                         const std::function<OrFailure<int>()>& look);

/// Prints what `text` returns: once, or as often as --watch specifies. On a terminal it then
/// replaces the previous text; in a table for programs only the first one has a header.
[[nodiscard]] OrFailure<int> show(const Context& context,
                                  const std::function<OrFailure<std::string>()>& text);

}  // namespace vmnuma::tools
