// SPDX-License-Identifier: Apache-2.0
/// Memory latencies that were measured and need not be measured again.
///
/// Problem: a node whose CPUs go offline and come back is as far from memory as before, but what
/// was measured last is of the nodes that were there then. Property: a latency is forgotten with
/// the memory that it is of, which may come back as other memory, and not with CPUs.
#pragma once

#include <algorithm>
#include <vector>

#include "placement/model/topology.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::balancer {

class KnownLatencies {
 public:
  /// What was found now goes before what was known of the same nodes.
  void add(const std::vector<stats::MeasuredLatency>& latencies) {
    for (const stats::MeasuredLatency& latency : latencies) {
      if (latency.state == stats::LatencyState::kMeasured) {
        std::erase_if(known_, [&](const stats::MeasuredLatency& older) {
          return older.cpu == latency.cpu && older.memory == latency.memory;
        });
        known_.push_back(latency);
      }
    }
  }
  /// Forgets those of memory that is not there.
  void keep_those_of(const placement::Topology& topology) {
    std::erase_if(known_, [&](const stats::MeasuredLatency& latency) {
      return std::none_of(topology.nodes.begin(), topology.nodes.end(),
                          [&](const placement::Node& node) {
                            return node.id == latency.memory && node.memory > placement::Bytes{};
                          });
    });
  }
  [[nodiscard]] const std::vector<stats::MeasuredLatency>& all() const { return known_; }

 private:
  std::vector<stats::MeasuredLatency> known_;
};

}  // namespace vmnuma::balancer
