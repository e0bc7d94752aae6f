// SPDX-License-Identifier: Apache-2.0
/// The latencies of this host: stored ones if still valid, otherwise measured.
///
/// Properties: a restart of the daemon does not repeat a measurement; a measurement that does not
/// cover all nodes is not stored; a failure is reported in one line, and the rest is shown all the
/// same.
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
  bool again = false;  ///< some may be measured later
};

/// Finds the latencies. `root` is the host's root directory; stored latencies are in
/// `state_dir`/latencies.json. Blocks while everything that is not `known` is measured. Gives up
/// early once `stop` is set.
[[nodiscard]] FoundLatencies find_latencies(const files::Directory& root,
                                            const std::string& state_dir, const Topology& topology,
                                            const std::vector<stats::MeasuredLatency>& known,
                                            stats::LatencyProbe& probe,
                                            const std::atomic<bool>& stop);

}  // namespace vmnuma::balancer
