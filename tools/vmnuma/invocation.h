// SPDX-License-Identifier: Apache-2.0
/// What the command line asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "balancer/protocol/request.h"
#include "placement/result.h"

namespace vmnuma::tools {

/// How the program ends.
inline constexpr int kExitOk = 0;
inline constexpr int kExitRefused = 1;      ///< the daemon said no, and why
inline constexpr int kExitUsage = 2;        ///< the command line is wrong
inline constexpr int kExitUnreachable = 3;  ///< there is no daemon, or no sense in its answer

/// `sim run`.
struct SimRunRequest {
  std::string scenario;  ///< a file, or the name of one that comes with the program
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> seed;
};
/// `sim list`.
struct SimListRequest {};
using SimRequest = std::variant<SimRunRequest, SimListRequest>;

struct Invocation {
  std::string program = "vmnuma";  ///< what messages begin with
  std::string socket_path;
  bool json = false;
  bool watch = false;  ///< again every epoch
  bool wait = false;   ///< of `move`: until it is done
  balancer::Command command;
  std::optional<SimRequest> sim;  ///< if set, no daemon is asked and `command` says nothing
};

/// The end of a run that asks nothing of the daemon: help, version, a wrong command line.
struct EarlyExit {
  int code = kExitOk;
  std::string text;  ///< for standard output if `code` is kExitOk, else for standard error
};

/// Reads the arguments of `vmnuma` (without the program's name). `now_unix_s` is what `--since 2h`
/// counts from.
[[nodiscard]] tl::expected<Invocation, EarlyExit> parse_arguments(
    std::span<const std::string> arguments, std::int64_t now_unix_s);

}  // namespace vmnuma::tools
