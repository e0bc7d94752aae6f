// SPDX-License-Identifier: Apache-2.0
/// How the clients of a host fare if some of them run on a second node as well.
///
/// Problem: the demand of a client that may run on two nodes does not belong to a single home.
/// Approach: its load is split between the two as CFS would spread it, so that both have equal
/// demand per thread that is left to clients. It goes onto busy CPUs only if its home is busier by
/// more than CFS tolerates; all the rest of its load is split in the same ratio. Clients are
/// processed one after the other, each finding the nodes as the earlier ones left them. Non-VM time
/// is that of this epoch if that is more: a second node is useful only while it is less busy.
/// Decisions that are meant to hold for longer use what lasts: most of what comes and goes is the
/// copying of memory for earlier actions.
/// Terms: *lost* - owed time of all nodes, and what clients lose to remote memory on their second
/// nodes; not what they lose to it at home.
/// Properties:
///  - with no client applied, lost() is the owed time of all clients at home;
///  - apply() lowers it by what saved_by() returned.
#pragma once

#include <vector>

#include "placement/arrangement.h"

namespace vmnuma::balancer {

class SpilledHost {
 public:
  /// Whether non-VM time counts that is present in this epoch but has not lasted.
  enum class Others { kNow, kLasting };
  /// Starts with all clients at home. `arrangement` must outlive this object.
  explicit SpilledHost(const Arrangement& arrangement, Others others = Others::kNow);

  /// What the node's own clients are owed; zero if only those that spill there are owed anything.
  [[nodiscard]] CpuTime owed_at_home(NodeIndex node) const {
    return is_short_[node] ? nodes_[node].owed() : CpuTime{};
  }
  /// Returns the lost time that would be saved if the client ran on that node as well.
  [[nodiscard]] CpuTime saved_by(ClientIndex client, NodeIndex to) const;
  void apply(ClientIndex client, NodeIndex to);
  [[nodiscard]] CpuTime lost() const;
  /// Returns the nodes with CPUs, least demand for their threads first.
  [[nodiscard]] std::vector<NodeIndex> calmest() const;

 private:
  [[nodiscard]] CpuTime threads(NodeIndex node) const;
  [[nodiscard]] Permille filled(NodeIndex node) const;
  [[nodiscard]] CpuTime goes_away(const Load& load, NodeIndex home, NodeIndex to) const;
  [[nodiscard]] CpuTime moves_while_busier(NodeIndex home, NodeIndex to) const;
  [[nodiscard]] CpuTime lost_to_distance(ClientIndex client, NodeIndex to, const Load& there) const;

  const Arrangement& arrangement_;
  std::vector<NodeLoad> nodes_;
  std::vector<bool> is_short_;  ///< per node, with all clients at home
  CpuTime lost_to_distance_;
};

}  // namespace vmnuma::balancer
