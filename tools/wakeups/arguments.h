// SPDX-License-Identifier: Apache-2.0
/// The command line of vmnuma-wakeups.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "placement/base/result.h"

namespace vmnuma::tools {

/// Exit codes.
inline constexpr int kWakeupsOk = 0;
inline constexpr int kWakeupsFailed =
    1;                                   ///< wake-ups cannot be counted here, or cannot be reported
inline constexpr int kWakeupsUsage = 2;  ///< the command line is wrong

struct WakeupsArguments {
  std::string pid_dir;  ///< of libvirt's pid files
  std::string output;   ///< the file of counts
  std::chrono::milliseconds period{};
};

/// Why the program ends right away: help, version, or a wrong command line.
struct WakeupsExit {
  int code = kWakeupsOk;
  std::string text;  ///< for standard output if `code` is kWakeupsOk, else for standard error
};

/// Reads the arguments (without the program's name).
[[nodiscard]] tl::expected<WakeupsArguments, WakeupsExit> parse_wakeups_arguments(
    std::span<const std::string> arguments);

}  // namespace vmnuma::tools
