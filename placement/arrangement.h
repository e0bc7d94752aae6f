// SPDX-License-Identifier: Apache-2.0
/// Who lives where, and how much CPU time the host loses that way.
///
/// Problem: every decision - a first home, a move, a swap - asks how much lost time the host would
/// have after it. Approach: an arrangement starts from a snapshot and keeps, per node, the loads
/// that live there (NodeLoad). A change of a few homes is evaluated from the nodes it touches;
/// applying it makes it real. Terms: *lost* - per epoch: predicted owed + standing memory loss +
/// broken groups. *Relocation* - one client to one node (or kNoNode: nowhere). *Effect* - what a
/// set of relocations changes: `gain` = lost before - lost after; `cost` = what it takes once,
/// above what staying takes. Properties:
///  1. effect(r).gain equals lost() before - lost() after apply(r), within rounding.
///  2. Applying relocations and then the reverse gives the arrangement back.
///  3. No relocation has no effect.
#pragma once

#include <span>
#include <vector>

#include "placement/memory_cost.h"
#include "placement/model/options.h"
#include "placement/model/snapshot.h"
#include "placement/node_load.h"

namespace vmnuma::placement {

/// One client to one node.
struct Rehoming {
  ClientIndex client = kNoClient;
  NodeIndex to = kNoNode;
  bool operator==(const Rehoming&) const = default;
};

struct Effect {
  CpuTime gain;      ///< lost time saved per epoch; negative if it gets worse
  CpuTime cost;      ///< once: copying, waiting for memory under way, fixed cost, less what staying
                     ///< would cost
  Bytes to_move;     ///< memory that travels
  bool fits = true;  ///< there is room for all memory that follows

  /// True if the gain over the horizon exceeds the cost.
  [[nodiscard]] bool pays(const Options& options) const {
    return gain * options.move_horizon > cost;
  }
};

class Arrangement {
 public:
  /// What a client is taken to want: its demand of this epoch, or its load average with pending
  /// load.
  enum class Basis { kDemand, kLoad };

  /// `snapshot` and `options` must outlive the arrangement.
  Arrangement(const Snapshot& snapshot, const Options& options, Basis basis);

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] const Options& options() const { return *options_; }
  [[nodiscard]] NodeIndex home(ClientIndex client) const { return homes_[client]; }
  [[nodiscard]] const NodeLoad& node(NodeIndex node) const { return nodes_[node]; }
  [[nodiscard]] const Load& load(ClientIndex client) const { return loads_[client]; }
  [[nodiscard]] const MemoryProfile& memory(ClientIndex client) const { return memory_[client]; }
  /// Clients that live on the node, ascending.
  [[nodiscard]] const std::vector<ClientIndex>& residents(NodeIndex node) const {
    return residents_[node];
  }
  /// Bytes that may still come to the node.
  [[nodiscard]] Bytes room(NodeIndex node) const { return room_[node]; }

  [[nodiscard]] CpuTime lost() const;
  /// Owed / capacity of a node.
  [[nodiscard]] Permille owed_share(NodeIndex node) const;
  [[nodiscard]] Permille owed_share_after(NodeIndex node, const Exchange& exchange) const;
  /// Largest difference of owed / capacity between two nodes that can be a home.
  [[nodiscard]] Permille imbalance() const;

  [[nodiscard]] MemoryCost memory_cost_at(ClientIndex client, NodeIndex node,
                                          Bytes extra_room) const;
  /// One client moves (or gets its first home).
  [[nodiscard]] Effect effect_of_move(ClientIndex client, NodeIndex to) const;
  /// Two clients on different nodes change places.
  [[nodiscard]] Effect effect_of_swap(ClientIndex a, ClientIndex b) const;
  /// Any set of relocations of different clients. Slower than the two above; for chains.
  [[nodiscard]] Effect effect_of(std::span<const Rehoming> changes) const;
  void apply(std::span<const Rehoming> changes);

  /// True if a hard anti-affinity group forbids the client on that node as things are, `leaving`
  /// ignored.
  [[nodiscard]] bool forbidden_by_group(ClientIndex client, NodeIndex node,
                                        ClientIndex leaving = kNoClient) const;

 private:
  struct Group {
    std::vector<ClientIndex> members;
    bool apart = false;
    bool hard = false;
  };
  [[nodiscard]] CpuTime group_loss(ClientIndex client, NodeIndex at,
                                   std::span<const Rehoming> others) const;
  struct NodeExchange {
    NodeIndex node = kNoNode;
    Exchange exchange;
  };
  [[nodiscard]] Effect effect_by_exchange(std::span<const Rehoming> changes,
                                          std::span<const NodeExchange> exchanges) const;
  [[nodiscard]] Effect effect_step_by_step(std::span<const Rehoming> changes) const;
  void add_to_groups();
  void relocate(ClientIndex client, NodeIndex to);
  void take_memory_along(ClientIndex client, NodeIndex from, NodeIndex to);

  const Snapshot* snapshot_;
  const Options* options_;
  std::vector<NodeIndex> homes_;
  std::vector<Load> loads_;
  std::vector<MemoryProfile> memory_;
  std::vector<NodeLoad> nodes_;
  std::vector<std::vector<ClientIndex>> residents_;
  std::vector<Bytes> room_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::size_t>> groups_of_;  ///< per client
};

}  // namespace vmnuma::placement
