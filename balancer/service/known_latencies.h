// SPDX-License-Identifier: Apache-2.0
/// Measured memory latencies that need not be measured again.
///
/// Problem: a node's distance from memory is the same after its CPUs went offline and came back,
/// but the last measurement covers only the nodes present then. Property: a latency is forgotten
/// when the memory goes away, which may come back as other memory, but not when CPUs do.
#pragma once

#include <algorithm>
#include <vector>

#include "placement/model/topology.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::balancer {

class KnownLatencies {
 public:
  /// Adds values; new ones replace known ones of the same nodes.
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
  /// Forgets latencies of memory that is gone.
  void keep_nodes_of(const Topology& topology) {
    std::erase_if(known_, [&](const stats::MeasuredLatency& latency) {
      return std::ranges::none_of(topology.nodes, [&](const Node& node) {
        return node.id == latency.memory && node.memory > Bytes{};
      });
    });
  }
  [[nodiscard]] const std::vector<stats::MeasuredLatency>& all() const { return known_; }

 private:
  std::vector<stats::MeasuredLatency> known_;
};

}  // namespace vmnuma::balancer
