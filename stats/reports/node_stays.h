// SPDX-License-Identifier: Apache-2.0
/// Counts how long each client has lived on each node, for numa-cnode. Pure; owned by the code that
/// makes the decisions and updated every epoch.
///
/// Properties: a client's epochs add up to those in which it had a home; a client that is gone is
/// forgotten.
#pragma once

#include <cstdint>
#include <map>

#include "placement/model/ids.h"
#include "placement/model/snapshot.h"

namespace vmnuma::stats {

struct NodeStay {
  std::int64_t epochs = 0;
  std::int64_t arrivals = 0;  ///< times it came, including its first placement
  bool operator==(const NodeStay&) const = default;
};

class NodeStays {
 public:
  void advance(const Snapshot& snapshot);
  /// Returns the client's stays by node; empty for an unknown client. Valid until the next
  /// advance().
  [[nodiscard]] const std::map<NodeId, NodeStay>& of(const ClientId& client) const;

 private:
  struct Life {
    NodeId last;
    std::map<NodeId, NodeStay> stays;
  };
  std::map<ClientId, Life> lives_;
  std::map<NodeId, NodeStay> none_;
};

}  // namespace vmnuma::stats
