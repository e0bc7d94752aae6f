// SPDX-License-Identifier: Apache-2.0
/// `vmnuma report`: what happened on a host in a period, for reading elsewhere.
///
/// Problem: an administrator who was not there wants to see what the balancer did and achieved.
/// Approach: the history is read into values, which become a page or a text. The page is
/// self-contained: it needs no external script, font or picture.
///
/// Properties:
///  - equal values give equal bytes;
///  - names from outside cannot become markup;
///  - the page stays small: a line of a chart has at most kMostPoints points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balancer/model/view.h"
#include "stats/history/past.h"

namespace vmnuma::tools {

inline constexpr std::size_t kMostPoints = 400;

struct HostReport {
  std::string host_name;
  std::int64_t since_unix_s = 0;
  std::int64_t until_unix_s = 0;
  stats::Past past;
  std::optional<balancer::HostView> host;  ///< as it is now; absent without a daemon
  std::string why_no_host;
};

/// Returns a few lines: the figures of the nodes, and the results of the moves.
[[nodiscard]] std::string report_text(const HostReport& report);
/// Returns the same figures for programs.
[[nodiscard]] std::string report_json(const HostReport& report);
/// Returns the page.
[[nodiscard]] std::string report_html(const HostReport& report);

}  // namespace vmnuma::tools
