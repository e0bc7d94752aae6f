// SPDX-License-Identifier: Apache-2.0
/// Decides which client's turn it is to be short of CPU time.
///
/// Problem: where three equal VMs saturate two nodes, two of them always share one node; without a
/// record of the past it is always the same two. Approach: what a client is predicted to be owed is
/// weighted by the share of its entitlement that it was owed over the last minutes. The sum over
/// the host is what a fair balancer keeps low: it falls when clients that waited get a node with
/// time, and those that had it wait. For the weights, the last few epochs alone are not enough:
/// with five VMs on four nodes they do not show which clients waited before, and the same three
/// take turns forever. But the last few epochs do decide whether there is a turn at all, since
/// averages over minutes would not show that a host is busy now. This is decided VM by VM, because
/// the guest decides which of a VM's vCPUs wait. A turn passes a shortage on and saves nothing, but
/// the memory that follows costs: a client that took a turn rests for Numa.LTermRestTimes times as
/// long as its memory was in transit (guards.h), and turns to and from a node are spread evenly
/// over that time.
///
/// Terms: *lately* - this epoch and the Numa.LTermFairnessInterval - 1 before it. *Weighted owed* -
/// sum over clients of predicted owed x share owed over minutes.
///
/// Properties:
///  - if no client was owed, all weights are zero;
///  - VMs that were owed equal shares lately take no turns, whichever of their clients waited;
///  - change() is the difference that a set of rehomings makes to the sum, exactly;
///  - equal VMs get equal time within 3 %, for any number of VMs and nodes.
#pragma once

#include <span>
#include <vector>

#include "placement/arrangement.h"

namespace vmnuma::balancer {

class LongTerm {
 public:
  /// For the arrangement as it is now.
  explicit LongTerm(const Arrangement& arrangement);

  /// Returns the largest difference between two VMs in what they were owed lately.
  [[nodiscard]] Permille imbalance() const;
  /// Returns the weighted owed of a node's clients.
  [[nodiscard]] CpuTime weighted(NodeIndex node) const { return weighted_[node]; }
  /// Returns by how much `changes` raise the host's weighted owed; negative if they lower it.
  [[nodiscard]] CpuTime change(std::span<const Rehoming> changes) const;

 private:
  [[nodiscard]] CpuTime weighted_after(NodeIndex node, const Exchange& exchange,
                                       std::span<const Rehoming> changes) const;

  const Arrangement* arrangement_;
  std::vector<Permille> on_average_;               ///< per client
  std::vector<std::vector<WeighedLoad>> waiting_;  ///< per node: clients that were owed
  std::vector<CpuTime> weighted_;                  ///< per node
};

}  // namespace vmnuma::balancer
