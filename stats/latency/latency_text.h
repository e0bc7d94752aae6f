// SPDX-License-Identifier: Apache-2.0
/// Measured latencies as text, kept until the host's next boot.
///
///     {"version":1,"boot_id":"...","latencies":[{"cpu":0,"memory":0,"read_ns":82},...]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/topology.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::stats {

/// `boot_id` is /proc/sys/kernel/random/boot_id (random(4)) at the time of measurement.
struct KeptLatencies {
  std::string boot_id;
  std::vector<MeasuredLatency> latencies;  ///< all of them measured
  bool operator==(const KeptLatencies&) const = default;
};

[[nodiscard]] std::string text_of(const KeptLatencies& kept);

/// Parses such a text. Error: corrupt.
[[nodiscard]] Result<KeptLatencies> parse_latencies(std::string_view text);

/// Returns whether the latencies were measured since this boot and cover exactly the present nodes.
[[nodiscard]] bool still_hold(const KeptLatencies& kept, const std::string& boot_id,
                              const Topology& topology);

}  // namespace vmnuma::stats
