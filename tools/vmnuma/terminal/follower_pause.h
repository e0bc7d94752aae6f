// SPDX-License-Identifier: Apache-2.0
/// A wait that ends with its reader, or with a signal to stop.
#pragma once

#include <chrono>
#include <functional>

namespace vmnuma::tools {

/// Waits; false once SIGTERM, SIGINT or SIGHUP has come, or the reader of the pipe or socket `out`
/// is gone. The signals are blocked from this call on, so that output is completed. To be called
/// before there are threads.
[[nodiscard]] std::function<bool(std::chrono::milliseconds)> follower_pause(int out);

}  // namespace vmnuma::tools
