// SPDX-License-Identifier: Apache-2.0
/// One request to the daemon and its answer, over the control socket.
#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

#include "balancer/protocol/request.h"
#include "placement/base/result.h"

namespace vmnuma::tools {

/// Why there is no result.
struct Refusal {
  bool by_daemon =
      false;  ///< true: the daemon said no; false: there was no sensible answer from it
  Error error;
};

/// The process that listens on a socket, as the kernel knows it (unix(7), SO_PEERCRED).
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};

/// The process that would answer. Errors: unavailable.
[[nodiscard]] Result<Peer> peer_of(const std::string& socket_path, std::chrono::milliseconds limit);

/// Connects, asks and returns the result's JSON text. Gives up after `limit` in total, and on an
/// answer larger than balancer::kLongestAnswer. Blocking.
[[nodiscard]] tl::expected<std::string, Refusal> ask(const std::string& socket_path,
                                                     const balancer::Command& command,
                                                     std::chrono::milliseconds limit);

}  // namespace vmnuma::tools
