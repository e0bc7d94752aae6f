// SPDX-License-Identifier: Apache-2.0
/// What the daemon said when it was last asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "balancer/model/view.h"
#include "placement/base/result.h"

namespace vmnuma::tools {

/// The daemon's views, and the JSON texts in which they came.
struct Views {
  balancer::StatusView status;
  balancer::HostView host;
  std::string status_json;
  std::string host_json;
  std::string history_json;  ///< recent moves; "null" where there is no history
};

struct Reading {
  std::optional<Views> views;  ///< absent if the daemon did not answer with sense
  std::string problem;         ///< why not
  std::int64_t time_unix_ms = 0;
  std::chrono::microseconds took{};
  std::int64_t failures = 0;  ///< of this program's readings so far
};

/// Asks for all of it within `limit` altogether. Only commands that change nothing are sent.
/// Blocking.
[[nodiscard]] Result<Views> read_daemon(const std::string& socket_path,
                                        std::chrono::milliseconds limit);

}  // namespace vmnuma::tools
