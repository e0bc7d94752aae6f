// SPDX-License-Identifier: Apache-2.0
/// What a host loses with its clients on given nodes, computed the slow and plain way.
///
/// Problem: the planner keeps running sums (placement/arrangement.h, placement/node_load.h); code
/// that checks it must not rely on them. Approach: homes, room and what memory costs are kept per
/// client and node; owed time is shared out anew, client by client, whenever it is asked for. It
/// shares only the definitions with the planner: capacity, fair shares, memory cost, what talks
/// cost. Properties: lost(), imbalance() and room() are the arrangement's within rounding().
#pragma once

#include <span>
#include <vector>

#include "placement/arrangement.h"

namespace vmnuma::balancer {

class Reckoning {
 public:
  using Basis = Arrangement::Basis;
  /// `snapshot` and `options` must outlive it.
  Reckoning(const Snapshot& snapshot, const Options& options, Basis basis = Basis::kDemand);

  [[nodiscard]] NodeIndex home(ClientIndex client) const { return homes_[client]; }
  [[nodiscard]] const MemoryProfile& memory(ClientIndex client) const { return memory_[client]; }
  /// Negative where more was promised than there is.
  [[nodiscard]] const MemoryRoom& room() const { return room_; }

  /// All at once. A client may be rehomed once.
  void apply(std::span<const Rehoming> changes);

  [[nodiscard]] CpuTime lost() const;
  /// Of lost(), wake-ups that go from node to node.
  [[nodiscard]] CpuTime lost_to_talks() const;
  /// Of lost(), broken affinity and anti-affinity groups.
  [[nodiscard]] CpuTime lost_to_groups() const;
  /// Of lost(), devices on other nodes.
  [[nodiscard]] CpuTime lost_to_devices() const;
  /// Per client, what it is predicted to be owed.
  [[nodiscard]] std::vector<CpuTime> owed() const;
  /// Per node, owed / capacity.
  [[nodiscard]] std::vector<Permille> owed_shares() const;
  /// Largest difference of owed share between two nodes that can be a home and are known.
  [[nodiscard]] Permille imbalance() const;
  /// How far lost() may differ from what running sums give.
  [[nodiscard]] CpuTime rounding() const;

 private:
  const Snapshot* snapshot_;
  const Options* options_;
  std::vector<NodeIndex> homes_;          ///< per client
  std::vector<Load> loads_;               ///< per client
  std::vector<MemoryProfile> memory_;     ///< per client
  std::vector<CpuTime> lost_to_memory_;   ///< per client
  std::vector<std::vector<Talk>> talks_;  ///< per client; empty if no client talks
  MemoryRoom room_;
};

}  // namespace vmnuma::balancer
