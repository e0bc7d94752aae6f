// SPDX-License-Identifier: Apache-2.0
/// Asks the daemon for something again and again, for --watch and --follow.
///
/// Properties:
///  - a daemon that is restarted does not end it: while there is no answer, it tries again, and
///  says
///    so once;
///  - without an answer to the very first question it ends, unless it is told to wait for one.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// How often and for how long it is asked.
struct Polling {
  std::int64_t seconds = 0;       ///< between two questions; 0: as often as the daemon measures
  bool waits_for_daemon = false;  ///< also before its first answer
  /// The length of the daemon's epochs; missing: it is asked.
  std::function<std::optional<std::chrono::milliseconds>()> epoch_length{};
};

/// Calls `look` until it returns another exit code than kExitOk or the output is no longer wanted.
/// A refusal is what the daemon said, or why it said nothing. Returns the exit code.
[[nodiscard]] int keep_asking(const Invocation& invocation, Surroundings& surroundings,
                              const Polling& polling,
                              const std::function<tl::expected<int, Refusal>()>& look);

/// Calls `show` as often as --watch says; `again`: it is not the first time.
[[nodiscard]] int watch(const Invocation& invocation, Surroundings& surroundings,
                        const std::function<tl::expected<int, Refusal>(bool again)>& show);

/// What is printed of a text that is shown again and again: on a terminal it replaces what was
/// shown before, in a table of a program only the first has a header.
[[nodiscard]] std::string watched(const std::string& text, bool again, const Invocation& invocation,
                                  const Surroundings& surroundings);

}  // namespace vmnuma::tools
