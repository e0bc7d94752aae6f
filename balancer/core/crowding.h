// SPDX-License-Identifier: Apache-2.0
/// Nodes with more vCPUs than CPUs, and clients that hardly run.
///
/// Problem: homes are decided once an epoch, but vCPUs wake within it. On a node with more vCPUs
/// than CPUs some that slept for a long time may wake together, and then wait for the rest of the
/// epoch while CPUs of another node idle. Approach: a client that hardly runs may run on two nodes
/// before it needs to: while it sleeps that costs nothing, and when it wakes it finds a CPU. A
/// client that spills counts half on each of its nodes.
/// Terms: *crowded* - a node on which the vCPUs of its own clients outnumber the CPUs that other
/// load leaves.
///
/// Properties:
///  1. A node is not crowded by clients that only spill there.
///  2. A client that begins to run still counts as hardly running at first: there is a margin.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/arrangement.h"

namespace vmnuma::balancer {

class Crowding {
 public:
  /// Starts with all clients at home. `arrangement` must outlive this object.
  explicit Crowding(const Arrangement& arrangement);

  [[nodiscard]] bool is_crowded(NodeIndex node) const;
  [[nodiscard]] bool is_any_crowded() const;
  /// Returns, of the client's home and the nodes that `may` allows, the one with the fewest vCPUs
  /// for its CPUs.
  template <class May>
  [[nodiscard]] NodeIndex least_filled(NodeIndex home, May may) const {
    NodeIndex least = home;
    for (NodeIndex node = 0; node < own_.size(); ++node) {
      if (filled(node) < filled(least) && may(node)) {
        least = node;
      }
    }
    return least;
  }
  /// Counts the client as running on that node as well from now on.
  void spread(ClientIndex client, NodeIndex to);

 private:
  [[nodiscard]] std::int64_t filled(NodeIndex node) const;

  const Arrangement& arrangement_;
  std::vector<std::int64_t> own_;     ///< vCPUs of clients at home there
  std::vector<std::int64_t> halves_;  ///< half vCPUs, including clients that spill
};

/// Returns true if a client wants less than a tenth of its vCPUs' time; for one that spills
/// already, less than a fifth.
[[nodiscard]] bool hardly_runs(const Snapshot& snapshot, const ClientState& client);

}  // namespace vmnuma::balancer
