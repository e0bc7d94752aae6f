// SPDX-License-Identifier: Apache-2.0
/// How a command ends: its exit codes, and what is reported if it fails.
#pragma once

#include <string>
#include <utility>

#include "placement/base/result.h"
#include "tools/client/client.h"

namespace vmnuma::tools {

/// Exit codes.
inline constexpr int kExitOk = 0;
inline constexpr int kExitRefused = 1;      ///< the daemon refused, and gave the reason
inline constexpr int kExitUsage = 2;        ///< the command line is wrong
inline constexpr int kExitUnreachable = 3;  ///< there is no daemon, or its answer is invalid
inline constexpr int kExitWarning = 4;      ///< `doctor`: its worst finding is a warning
inline constexpr int kExitBroken = 5;       ///< `doctor`: its worst finding is an error

/// Why a command was not carried out. Errors and refusals convert to it.
struct Failure {
  Failure(Error why, int code = kExitRefused) : error(std::move(why)), exit_code(code) {}
  Failure(Refusal refusal)
      : Failure(std::move(refusal.error), refusal.by_daemon ? kExitRefused : kExitUnreachable) {}

  Error error;
  int exit_code;
};

template <class T>
using OrFailure = tl::expected<T, Failure>;

/// The failure if the error is in what the user gave: the command line or a file.
[[nodiscard]] inline Failure usage_failure(Error error) {
  return {std::move(error), kExitUsage};
}
/// `return wrong_usage("--vcpus needs --memory");`
[[nodiscard]] inline tl::unexpected<Failure> wrong_usage(std::string message) {
  return tl::unexpected(usage_failure({ErrorCode::kInvalidArgument, 0, std::move(message)}));
}

/// The failure if the daemon's answer is invalid.
[[nodiscard]] inline Failure answer_failure(Error error) {
  return {std::move(error), kExitUnreachable};
}

}  // namespace vmnuma::tools
