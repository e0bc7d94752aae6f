// SPDX-License-Identifier: Apache-2.0
/// When memory latencies are measured.
///
/// Problem: if one home was not measured, decisions are based on the firmware's distances for the
/// whole host, and nodes may be added while the daemon runs (hot-plugged CXL memory). But a
/// measurement burdens a host that may be too busy for it. Properties:
///  - latencies are measured once at the start, and again as soon as the set of nodes, or which of
///    them have CPUs or memory, differs from what was measured;
///  - as long as there are pairs that may be measured later, measurements are repeated, less and
///    less often;
///  - there is one measurement at a time.
#pragma once

#include <chrono>
#include <tuple>
#include <vector>

#include "balancer/service/backoff.h"
#include "placement/model/topology.h"

namespace vmnuma::balancer {

/// One thread at a time.
class LatencySchedule {
 public:
  static constexpr std::chrono::seconds kFirstPause = std::chrono::minutes(10);
  static constexpr std::chrono::seconds kLongestPause = std::chrono::hours(2);

  [[nodiscard]] bool is_due(const Topology& topology, Backoff::Time now) const {
    return !under_way_ && (nodes_of(topology) != nodes_ || (!complete_ && backoff_.is_due(now)));
  }
  void begun(const Topology& topology) {
    under_way_ = true;
    nodes_ = nodes_of(topology);
  }
  /// `complete`: nothing is left to be measured later.
  void ended(bool complete, Backoff::Time now) {
    under_way_ = false;
    complete_ = complete;
    if (!complete) {
      backoff_.failed(now);
    }
  }

 private:
  using Nodes = std::vector<std::tuple<NodeId, bool, bool>>;

  static Nodes nodes_of(const Topology& topology) {
    Nodes nodes;
    for (const Node& node : topology.nodes) {
      nodes.emplace_back(node.id, !node.cpus.empty(), node.memory > Bytes{});
    }
    return nodes;
  }

  Nodes nodes_;  ///< measured last; empty at the start
  bool under_way_ = false;
  bool complete_ = true;
  Backoff backoff_{kFirstPause, kLongestPause};
};

}  // namespace vmnuma::balancer
