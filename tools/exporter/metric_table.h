// SPDX-License-Identifier: Apache-2.0
/// All metrics: name, type and help, defined once. Those that are a field of a view are declared
/// with it (balancer/protocol/view_fields.h), those of a figure of VMs with that
/// (placement/model/vm_figures.h), the others in metric_table.cc.
///
/// The exposition, the manual page, the alert rules and the dashboard are checked against this
/// table by tests. Names follow the conventions of Prometheus: base units (seconds, bytes, ratio
/// from 0 to 1), `_total` for counters, `_info` for facts with the constant value 1. What is
/// unknown has no sample.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vmnuma::tools {

enum class MetricKind { kGauge, kCounter };

struct MetricInfo {
  std::string_view name;
  MetricKind kind{};
  std::string_view labels;      ///< "node, to"; empty if it has none
  std::string_view help;        ///< one sentence
  std::string_view label = {};  ///< one more of them; or empty
};

/// All of a metric's labels: "vm, tasks".
[[nodiscard]] std::string labels_text(const MetricInfo& metric);

/// In the order of the exposition.
[[nodiscard]] std::vector<MetricInfo> metric_table();

}  // namespace vmnuma::tools
