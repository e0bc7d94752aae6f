// SPDX-License-Identifier: Apache-2.0
/// Sums since the daemon was started, from which rates are computed.
///
/// Problem: a reader that polls every minute must not lose the epochs in between. Approach: sums
/// that only grow, updated every epoch and whenever an action ends. No decision uses them.
///
/// Properties:
///  - an epoch adds exactly what its snapshot shows;
///  - a stale VM adds nothing;
///  - a client that is gone is forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "migration/journal.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

struct CpuTotal {
  CpuTime used;
  CpuTime ready;
  CpuTime entitled;
  CpuTime owed;
  bool operator==(const CpuTotal&) const = default;
};

struct NodeTotal {
  CpuTime capacity;
  CpuTime non_vm;
  CpuTotal clients;  ///< of clients that had their home here at the time
  bool operator==(const NodeTotal&) const = default;
};

class Totals {
 public:
  void advance(const Snapshot& snapshot);
  void add_lost(CpuTime lost) { lost_ += lost; }
  void count_action(Reason reason, migration::ActionState state, Bytes moved);

  /// Zero if unknown.
  [[nodiscard]] CpuTotal of(const ClientId& client) const;
  [[nodiscard]] NodeTotal of(NodeId node) const;
  [[nodiscard]] std::int64_t actions(Reason reason, migration::ActionState state) const;
  [[nodiscard]] CpuTime lost() const { return lost_; }
  [[nodiscard]] Bytes moved() const { return moved_; }

 private:
  std::map<ClientId, CpuTotal> clients_;
  std::map<NodeId, NodeTotal> nodes_;
  std::map<std::pair<Reason, migration::ActionState>, std::int64_t> actions_;
  CpuTime lost_;
  Bytes moved_;
};

}  // namespace vmnuma::balancer
