// SPDX-License-Identifier: Apache-2.0
/// Sends one request to the daemon over the control socket and receives its answer.
#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

#include "balancer/protocol/request.h"
#include "placement/base/result.h"

namespace vmnuma::tools {

/// Why there is no result.
struct Refusal {
  bool by_daemon = false;  ///< true: the daemon refused; false: it gave no valid answer
  Error error;
};

/// The process that listens on a socket, as the kernel knows it (unix(7), SO_PEERCRED).
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};

/// Returns the process that would answer. Errors: unavailable.
[[nodiscard]] Result<Peer> peer_of(const std::string& socket_path, std::chrono::milliseconds limit);

/// Connects, asks and returns the result's JSON text. Gives up after `limit` in total, and on an
/// answer larger than balancer::kLongestAnswer. Blocking.
[[nodiscard]] tl::expected<std::string, Refusal> ask(const std::string& socket_path,
                                                     const balancer::Command& command,
                                                     std::chrono::milliseconds limit);

}  // namespace vmnuma::tools
