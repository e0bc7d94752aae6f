// SPDX-License-Identifier: Apache-2.0
/// Computes what a host loses with its clients on given nodes, the slow and plain way.
///
/// Problem: the planner keeps running sums (placement/arrangement.h, placement/node_load.h); code
/// that checks it must not rely on them. Approach: homes, room and the cost of memory are kept per
/// client and node; owed time is shared out again, client by client, whenever it is requested. It
/// shares only the definitions with the planner: capacity, fair shares, memory cost, cost of talk.
/// Properties:
///  - lost(), imbalance() and room() are the arrangement's within rounding().
#pragma once

#include <span>
#include <vector>

#include "placement/arrangement.h"

namespace vmnuma::balancer {

class Reckoning {
 public:
  using Basis = Arrangement::Basis;
  /// `snapshot` and `options` must outlive this object.
  Reckoning(const Snapshot& snapshot, const Options& options, Basis basis = Basis::kDemand);

  [[nodiscard]] NodeIndex home(ClientIndex client) const { return homes_[client]; }
  [[nodiscard]] const MemoryProfile& memory(ClientIndex client) const { return memory_[client]; }
  /// Negative if more was promised than there is.
  [[nodiscard]] const MemoryRoom& room() const { return room_; }

  /// Applies all changes at once. A client may be rehomed once.
  void apply(std::span<const Rehoming> changes);

  [[nodiscard]] CpuTime lost() const;
  /// The part of lost() due to wake-ups that go from node to node.
  [[nodiscard]] CpuTime lost_to_talks() const;
  /// The part of lost() due to broken affinity and anti-affinity groups.
  [[nodiscard]] CpuTime lost_to_groups() const;
  /// The part of lost() due to devices on other nodes.
  [[nodiscard]] CpuTime lost_to_devices() const;
  /// Returns, per client, what it is predicted to be owed.
  [[nodiscard]] std::vector<CpuTime> owed() const;
  /// Returns owed / capacity, per node.
  [[nodiscard]] std::vector<Permille> owed_shares() const;
  /// Returns the largest difference of owed share between two nodes that can be a home and are
  /// known.
  [[nodiscard]] Permille imbalance() const;
  /// Returns how far lost() may differ from the result of running sums.
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
