// SPDX-License-Identifier: Apache-2.0
/// All metrics with name, labels and help, each defined once. Metrics for fields of views are
/// declared with the fields (balancer/protocol/view_fields.h), those for figures of VMs with the
/// figures (placement/model/vm_figures.h), all others in metric_table.cc.
///
/// The exposition, the manual page, the alert rules and the dashboard are checked against this
/// table by tests. Names follow the conventions of Prometheus: base units (seconds, bytes, ratio
/// from 0 to 1), `_total` for counters, `_info` for facts with the constant value 1. Unknown values
/// have no sample.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vmnuma::tools {

struct MetricInfo {
  std::string_view name;
  std::string_view labels;      ///< "node, to"; empty if there are none
  std::string_view help;        ///< one sentence
  std::string_view label = {};  ///< one more label, or empty

  /// All others are gauges.
  [[nodiscard]] bool is_counter() const { return name.ends_with("_total"); }
};

/// Returns all of a metric's labels: "vm, tasks".
[[nodiscard]] std::string labels_text(const MetricInfo& metric);

/// Returns the metrics in the order of the exposition.
[[nodiscard]] std::vector<MetricInfo> metric_table();

}  // namespace vmnuma::tools
