// SPDX-License-Identifier: Apache-2.0
/// Every metric there is: its name, type and help, said once.
///
/// The exposition, the manual page, the alert rules and the dashboard are held against this table
/// by tests. Names follow the conventions of Prometheus: base units (seconds, bytes, ratio from 0
/// to 1), `_total` for what only grows, `_info` for facts whose value is always 1. What is not
/// known has no sample.
#pragma once

#include <span>
#include <string_view>

namespace vmnuma::tools {

enum class MetricKind { kGauge, kCounter };

struct MetricInfo {
  std::string_view name;
  MetricKind kind{};
  std::string_view labels;  ///< "node, to"; empty if it has none
  std::string_view help;    ///< one sentence
};

/// In the order of the exposition.
[[nodiscard]] std::span<const MetricInfo> metric_table();

}  // namespace vmnuma::tools
