// SPDX-License-Identifier: Apache-2.0
/// Converts a table of `vmnuma stats` to JSON and back. Internal to this folder.
///
///     {"type":"numa-pnode","columns":["nodeID",...],"rows":[{"nodeID":0,...},...]}
///
/// A row's object has a value for each column, followed by values that are in no column of the
/// table.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "placement/base/result.h"
#include "stats/reports/report.h"

namespace vmnuma::balancer {

[[nodiscard]] nlohmann::ordered_json json_of_report(const stats::Report& report);

/// Parses a table. Error: corrupt. The additional values of a table without rows are not in its
/// JSON.
[[nodiscard]] Result<stats::Report> report_of_json(const nlohmann::ordered_json& json);

}  // namespace vmnuma::balancer
