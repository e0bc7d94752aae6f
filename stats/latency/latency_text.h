// SPDX-License-Identifier: Apache-2.0
/// Measured latencies as text, to be kept until the host's next start.
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

/// /proc/sys/kernel/random/boot_id (random(4)) when they were measured.
struct KeptLatencies {
  std::string boot_id;
  std::vector<MeasuredLatency> latencies;  ///< all of them measured
  bool operator==(const KeptLatencies&) const = default;
};

[[nodiscard]] std::string text_of(const KeptLatencies& kept);

/// Error: corrupt.
[[nodiscard]] Result<KeptLatencies> parse_latencies(std::string_view text);

/// Whether they are of this boot, and of just the nodes that there are.
[[nodiscard]] bool still_hold(const KeptLatencies& kept, const std::string& boot_id,
                              const placement::Topology& topology);

}  // namespace vmnuma::stats
