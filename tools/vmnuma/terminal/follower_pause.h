// SPDX-License-Identifier: Apache-2.0
/// A pause that ends early if the reader is gone, or on a signal to stop.
#pragma once

#include <chrono>
#include <functional>

namespace vmnuma::tools {

/// Returns a function that waits, and returns false once SIGTERM, SIGINT or SIGHUP has arrived or
/// the reader of the pipe or socket `out` is gone. The signals are blocked from this call on, so
/// that output is completed. Call before any threads are created.
[[nodiscard]] std::function<bool(std::chrono::milliseconds)> follower_pause(int out);

}  // namespace vmnuma::tools
