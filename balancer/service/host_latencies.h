// SPDX-License-Identifier: Apache-2.0
/// The latencies of this host: kept ones if they still hold, measured ones otherwise.
///
/// Properties: a restart of the daemon measures nothing again; what was not measured of all nodes
/// is not kept; whatever fails is said in one line, and the rest is shown all the same.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "balancer/controller/events.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"
#include "stats/latency/measure.h"

namespace vmnuma::balancer {

struct FoundLatencies {
  stats::HostLatencies latencies;
  LogLine log;
  bool again = false;  ///< some may be measured another time
};

/// `root` is the host's root directory; the kept ones are in `state_dir`/latencies.json. Blocks for
/// the time of the measurement of all that is not `known`. Gives up early once `stop` is set.
[[nodiscard]] FoundLatencies find_latencies(const files::Directory& root,
                                            const std::string& state_dir,
                                            const placement::Topology& topology,
                                            const std::vector<stats::MeasuredLatency>& known,
                                            stats::LatencyProbe& probe,
                                            const std::atomic<bool>& stop);

}  // namespace vmnuma::balancer
