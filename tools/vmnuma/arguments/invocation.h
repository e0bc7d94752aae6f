// SPDX-License-Identifier: Apache-2.0
/// Parses the command line of `vmnuma`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "balancer/protocol/request.h"
#include "placement/base/result.h"
#include "tools/vmnuma/arguments/failure.h"
#include "tools/vmnuma/arguments/local_commands.h"
#include "tools/vmnuma/arguments/report_shape.h"
#include "tools/vmnuma/text/list_format.h"

namespace vmnuma::tools {

/// A command of the daemon, or one that the program carries out itself.
using AnyCommand = WithLocalCommands<std::variant, balancer::Command, OptimalRun, OverviewRun>;

struct Invocation {
  std::string program = "vmnuma";  ///< the prefix of messages
  std::string socket_path;
  bool sim = false;  ///< --sim: the request concerns a simulated host, not this one
  bool json = false;
  bool watch = false;              ///< repeat
  ListFormat format{};             ///< of lists; `json` takes precedence
  ReportShape shape;               ///< of a table of `stats`
  std::int64_t watch_seconds = 0;  ///< how often; 0: every epoch
  bool full_screen = false;        ///< for `top`, if there is a terminal
  bool wait = false;               ///< for `move`: wait until it is done
  AnyCommand command;
};

/// Why the program ends without contacting the daemon: help, version, or a wrong command line.
struct EarlyExit {
  int code = kExitOk;
  std::string text;  ///< for standard output if `code` is kExitOk, else for standard error
};

/// Reads the arguments of `vmnuma` (without the program's name). `--since 2h` counts from
/// `now_unix_s`.
[[nodiscard]] tl::expected<Invocation, EarlyExit> parse_arguments(
    std::span<const std::string> arguments, std::int64_t now_unix_s);

}  // namespace vmnuma::tools
