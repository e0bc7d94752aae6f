// SPDX-License-Identifier: Apache-2.0
/// Waiting that ends with its reader, or with a signal to stop.
#pragma once

#include <chrono>
#include <functional>

namespace vmnuma::tools {

/// Waits; false once SIGTERM, SIGINT or SIGHUP has come, or nobody reads from the pipe or socket
/// `out` any more. The signals are blocked from this call on, so that what is being written is
/// written whole. To be called before there are threads.
[[nodiscard]] std::function<bool(std::chrono::milliseconds)> follower_pause(int out);

}  // namespace vmnuma::tools
