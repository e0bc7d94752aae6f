// SPDX-License-Identifier: Apache-2.0
/// What the command line asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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
  std::optional<std::string> record;   ///< a file that is made
  std::optional<std::string> explain;  ///< a VM; its explanation is then all that is printed
};
/// `sim list`.
struct SimListRequest {};
/// `sim compare`.
struct SimCompareRequest {
  std::vector<std::string> scenarios;  ///< all that come with the program if empty
  std::optional<std::int64_t> epochs;
};
using SimRequest = std::variant<SimRunRequest, SimListRequest, SimCompareRequest>;

/// `record`.
struct RecordRun {
  std::string path;
  std::optional<std::int64_t> epochs;
  bool anonymize = false;
};
/// `replay`.
struct ReplayRun {
  std::string path;
  std::vector<std::pair<std::string, std::int64_t>> options;
};

struct Invocation {
  std::string program = "vmnuma";  ///< what messages begin with
  std::string socket_path;
  bool json = false;
  bool watch = false;              ///< again and again
  std::int64_t watch_seconds = 0;  ///< how often; 0: every epoch
  bool full_screen = false;        ///< of `top`, where there is a terminal
  bool wait = false;               ///< of `move`: until it is done
  balancer::Command command;
  // If one of these is set, `command` says nothing.
  std::optional<SimRequest> sim;
  std::optional<RecordRun> record;
  std::optional<ReplayRun> replay;
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
