// SPDX-License-Identifier: Apache-2.0
/// The daemon's last answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"

namespace vmnuma::tools {

/// The daemon's views, and their original JSON texts.
struct Views {
  balancer::StatusView status;
  balancer::HostView host;
  std::string status_json;
  std::string host_json;
  std::string history_json;  ///< recent moves; "null" where there is no history
  /// By UUID of the VMs being viewed: {"explain":...}, or {"problem":"..."}.
  std::map<std::string, std::string> explained = {};
};

struct Reading {
  std::optional<Views> views;  ///< absent if the daemon gave no valid answer
  std::string problem;         ///< why not
  std::int64_t time_unix_ms = 0;
  std::chrono::microseconds took{};
  std::int64_t failures = 0;                   ///< number of failed readings of this program so far
  std::map<std::string_view, double> process;  ///< read_own_process() of this one
};

/// Asks for everything within `limit` in total. Only commands that change nothing are sent.
/// Blocking.
[[nodiscard]] Result<Views> read_daemon(const std::string& socket_path,
                                        std::chrono::milliseconds limit);

/// Returns Views::explained for these VMs, to the extent that the daemon answers within `limit`.
/// Blocking.
[[nodiscard]] std::map<std::string, std::string> read_explanations(
    const std::string& socket_path, const std::vector<std::string>& uuids,
    std::chrono::milliseconds limit);

}  // namespace vmnuma::tools
