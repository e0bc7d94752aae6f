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

#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// How often the daemon is asked, and for how long.
struct Polling {
  std::int64_t seconds = 0;       ///< between two requests; 0: as often as the daemon measures
  bool waits_for_daemon = false;  ///< wait even before its first answer
  /// Returns the length of the daemon's epochs; if missing, the daemon is asked.
  std::function<std::optional<std::chrono::milliseconds>()> epoch_length{};
};

/// Calls `look` until it returns an exit code other than kExitOk, or the output is no longer
/// wanted. A refusal is the daemon's, or the reason why it did not answer. Returns the exit code.
[[nodiscard]] int keep_asking(const Invocation& invocation, Surroundings& surroundings,
                              const Polling& polling,
                              const std::function<tl::expected<int, Refusal>()>& look);

/// Calls `show` as often as --watch specifies; `again` is false at the first call.
[[nodiscard]] int watch(const Invocation& invocation, Surroundings& surroundings,
                        const std::function<tl::expected<int, Refusal>(bool again)>& show);

/// Returns what to print of a text that is shown repeatedly: on a terminal it replaces the previous
/// text; in a table for programs only the first one has a header.
[[nodiscard]] std::string watched(const std::string& text, bool again, const Invocation& invocation,
                                  const Surroundings& surroundings);

}  // namespace vmnuma::tools
