// SPDX-License-Identifier: Apache-2.0
/// Which client lives where, and how much CPU time the host loses with that arrangement.
///
/// Problem: every decision - a first home, a move, a swap - asks how much lost time the host would
/// have after it. Approach: an arrangement starts from a snapshot and keeps, per node, the loads
/// that live there (NodeLoad) and, per client, what its memory costs where it lives. A change of a
/// few homes is evaluated from the nodes and clients it touches; apply() carries it out. A change's
/// effect on the room of clients that stay is not counted: their memory was judged when they came.
/// Terms: *lost* - per epoch: predicted owed + standing memory loss + broken groups + devices of
/// VMs that want them near (alignment.h) + wake-ups from node to node (action_affinity.h).
/// *Rehoming* - one client to one node (or kNoNode: nowhere). *Effect* - what a set of rehomings
/// changes: `gain` = lost before - lost after; `cost` = the one-time cost of the change, above the
/// cost of staying. *Horizon* - how long a gain counts: Numa.MoveHorizon. Where loads are forecast,
/// Numa.ForecastWeight per cent of the gain are replaced by the smaller of the gains with the
/// present and with the expected loads, which counts for the ten minutes that forecasts look ahead.
/// Properties:
///  1. effect_of(r).gain equals lost() before - lost() after apply(r), within rounding.
///  2. Applying rehomings and then the reverse restores the arrangement.
///  3. An empty set of rehomings has no effect.
///  4. Without forecasts in_all is gain x Numa.MoveHorizon, except that relief of owed time counts
///     only in proportion to how much of the node's shortage has lasted (Numa.ShortageHalfLife);
///     with forecasts, a change that would cost time under the expected loads counts for less than
///     without.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "placement/action_affinity.h"
#include "placement/memory_cost.h"
#include "placement/memory_room.h"
#include "placement/model/options.h"
#include "placement/model/snapshot.h"
#include "placement/node_load.h"

namespace vmnuma {

/// Moves one client to one node.
struct Rehoming {
  ClientIndex client = kNoClient;
  NodeIndex to = kNoNode;
  bool operator==(const Rehoming&) const = default;
};

/// The loads that leave one node, and those that arrive.
struct NodeExchange {
  NodeIndex node = kNoNode;
  Exchange exchange;
};

struct Effect {
  CpuTime gain;            ///< lost time saved per epoch; negative if it gets worse
  CpuTime owed;            ///< of that, owed time
  CpuTime talk;            ///< of that, wake-ups that no longer go from node to node
  CpuTime gain_otherwise;  ///< the gain with the expected loads; for groups, with their recent ones
  CpuTime in_all;          ///< total gain over the horizon
  CpuTime cost;  ///< once: copying, waiting for memory in transit, fixed cost, less that of staying
  Bytes to_move;     ///< memory that moves
  bool fits = true;  ///< there is room for all memory that follows

  /// Total gain less the cost.
  [[nodiscard]] CpuTime benefit() const { return in_all - cost; }
  /// True if the benefit is positive.
  [[nodiscard]] bool pays() const { return benefit() > CpuTime{}; }
};

/// One class with many members, because they are one state that changes step by step: each question
/// about a change needs most of them, and each change that is applied updates all of them.
class Arrangement {
 public:
  /// Which load a client is assumed to have. kDemand: its demand in this epoch; the expected load
  /// is then the mean of the next ten minutes. kLoad: what 95 in 100 of the next ten minutes are
  /// expected not to exceed, or, where nothing is forecast, its load average with pending load; a
  /// change that would raise lost time with this epoch's demand gains nothing.
  enum class Basis { kDemand, kLoad };
  /// The most rehomings that are judged together.
  static constexpr std::size_t kMostTogether = FewLoads::kMost;

  /// `snapshot` and `options` must outlive the arrangement.
  Arrangement(const Snapshot& snapshot, const Options& options, Basis basis);

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] const Options& options() const { return *options_; }
  /// Returns the homes of all clients; kNoNode for one that has none.
  [[nodiscard]] const std::vector<NodeIndex>& homes() const { return homes_; }
  [[nodiscard]] NodeIndex home(ClientIndex client) const { return homes_[client]; }
  [[nodiscard]] const NodeLoad& node(NodeIndex node) const { return nodes_[node]; }
  [[nodiscard]] const std::vector<NodeLoad>& nodes() const { return nodes_; }
  [[nodiscard]] const Load& load(ClientIndex client) const { return loads_[client]; }
  [[nodiscard]] const std::vector<Load>& loads() const { return loads_; }
  [[nodiscard]] const MemoryProfile& memory(ClientIndex client) const { return memory_[client]; }
  /// Returns the clients that live on the node, ascending.
  [[nodiscard]] const std::vector<ClientIndex>& residents(NodeIndex node) const {
    return residents_[node];
  }
  /// Memory that each node can still take.
  [[nodiscard]] const MemoryRoom& room() const { return room_; }
  /// Memory that each node's clients have been given but have not touched yet.
  [[nodiscard]] const MemoryRoom& untouched() const { return untouched_; }

  /// The longest time, in epochs, for which the gain of a change counts.
  [[nodiscard]] std::int64_t longest_horizon() const { return longest_horizon_; }

  [[nodiscard]] bool has_forecasts() const { return has_forecasts_; }
  /// Returns how much of a node's relief per epoch counts over the horizon where nothing is
  /// forecast: the part of it that matches how much of the shortage has lasted; all of it if it is
  /// negative.
  [[nodiscard]] CpuTime lasting(NodeIndex node, CpuTime relief) const {
    return relief > CpuTime{} ? relief * lasts_[node].value / 1000 : relief;
  }

  /// Returns how up to kMostTogether rehomings of different clients change the loads of nodes: each
  /// node that they touch once.
  [[nodiscard]] std::vector<NodeExchange> exchanges(std::span<const Rehoming> changes) const {
    return exchanges_of(loads_, changes);
  }

  [[nodiscard]] CpuTime lost() const;
  /// Returns owed / capacity of a node.
  [[nodiscard]] Permille owed_share(NodeIndex node) const { return owed_shares_[node]; }
  [[nodiscard]] Permille owed_share_after(NodeIndex node, const Exchange& exchange) const;
  /// Returns the largest difference of owed / capacity between two nodes that can be a home and
  /// have known readings.
  [[nodiscard]] Permille imbalance() const;

  /// Returns what the client's memory costs where the client lives, as judged when it came there.
  [[nodiscard]] const MemoryCost& memory_here(ClientIndex client) const { return here_[client]; }
  /// Returns the effect of up to kMostTogether rehomings of different clients, at once.
  [[nodiscard]] Effect effect_of(std::span<const Rehoming> changes) const;
  /// Returns an upper bound on what moving the client saves besides owed time - in memory, groups
  /// and wake-ups - wherever it goes.
  [[nodiscard]] CpuTime most_saved_beside(ClientIndex client) const;
  void apply(std::span<const Rehoming> changes);
  /// talks(): true if the client talks to any other, wherever that one lives; talks_to(): to one
  /// that lives on that node.
  [[nodiscard]] bool talks(ClientIndex client) const {
    return !talks_.empty() && !talks_[client].empty();
  }
  [[nodiscard]] bool talks_to(ClientIndex client, NodeIndex node) const;

  /// Returns true if the client shares one memory with the other clients of its VM, its siblings.
  [[nodiscard]] bool has_siblings(ClientIndex client) const {
    return is_one_memory(snapshot_->vms[snapshot_->clients[client].vm]);
  }
  /// Returns true if one of its siblings lives on that node.
  [[nodiscard]] bool has_sibling_on(ClientIndex client, NodeIndex node) const;

  /// Returns true if a hard anti-affinity group, or its VM's max_per_node, forbids the client on
  /// that node once `changes` are made.
  [[nodiscard]] bool forbidden_by_group(ClientIndex client, NodeIndex node,
                                        std::span<const Rehoming> changes) const;
  /// Returns true if the same rules forbid these two to be on one node; for two clients of one VM,
  /// if max_per_node applies to it at all.
  [[nodiscard]] bool keeps_apart(ClientIndex a, ClientIndex b) const;

 private:
  struct Group {
    std::vector<ClientIndex> members;
    bool apart = false;
    bool hard = false;
  };
  [[nodiscard]] std::vector<NodeLoad> nodes_with(const std::vector<Load>& loads) const;
  void take_other_basis();
  [[nodiscard]] std::vector<NodeExchange> exchanges_of(const std::vector<Load>& loads,
                                                       std::span<const Rehoming> changes) const;
  [[nodiscard]] CpuTime gain_on_other_basis(const Effect& effect,
                                            std::span<const Rehoming> changes) const;
  [[nodiscard]] CpuTime in_all(const Effect& effect, CpuTime gain_that_lasts) const;
  void find_groups();
  [[nodiscard]] bool has_pairs(ClientIndex client) const {
    return !groups_of_[client].empty() || has_siblings(client);
  }
  [[nodiscard]] NodeIndex home_after(ClientIndex client, std::span<const Rehoming> changes) const;
  [[nodiscard]] CpuTime broken_pairs(ClientIndex client, NodeIndex at,
                                     std::span<const Rehoming> changes,
                                     std::span<const Rehoming> ignored) const;
  [[nodiscard]] CpuTime far_devices(ClientIndex client, NodeIndex at) const;
  [[nodiscard]] CpuTime parted_talks(ClientIndex client, NodeIndex at,
                                     std::span<const Rehoming> changes,
                                     std::span<const Rehoming> ignored) const;
  [[nodiscard]] bool counted_before(ClientIndex other, std::span<const Rehoming> ignored) const;
  [[nodiscard]] MemoryCost memory_there(std::span<const Rehoming> changes, std::size_t which,
                                        std::span<const Bytes> moved_before) const;
  [[nodiscard]] Bytes held_on(ClientIndex client, NodeIndex node) const;
  void relocate(ClientIndex client, NodeIndex to);
  void account_memory(ClientIndex client, NodeIndex home, std::int64_t sign);

  const Snapshot* snapshot_;
  const Options* options_;
  Basis basis_;
  bool has_forecasts_;
  std::int64_t longest_horizon_;
  std::vector<NodeIndex> homes_;
  std::vector<Load> loads_;
  std::vector<MemoryProfile> memory_;
  std::vector<MemoryCost> at_first_;  ///< as in the snapshot
  std::vector<MemoryCost> here_;
  std::vector<NodeLoad> nodes_;
  std::vector<Permille> owed_shares_;
  std::vector<Permille> lasts_;        ///< per node: how much of its shortage has lasted
  std::vector<Load> other_loads_;      ///< per client, on the other basis; empty without forecasts
  std::vector<NodeLoad> other_nodes_;  ///< with these loads
  std::vector<std::vector<ClientIndex>> residents_;
  MemoryRoom room_;
  MemoryRoom untouched_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::size_t>> groups_of_;  ///< per client
  std::vector<std::vector<Talk>> talks_;             ///< per client; empty if no client talks
};

/// Returns how many vCPUs of the VM may live on one node (max_per_node); nothing if its policy has
/// no limit, or its clients have too few nodes to respect it.
[[nodiscard]] std::optional<std::int64_t> most_per_node(const Snapshot& snapshot,
                                                        const VmState& vm);
/// Returns true if its policy has such a limit and it cannot be respected.
[[nodiscard]] bool breaks_max_per_node(const Snapshot& snapshot, const VmState& vm);

/// Returns true if any client's load over the next ten minutes is forecast.
[[nodiscard]] bool something_is_forecast(const Snapshot& snapshot);

/// Returns the longest time, in epochs, for which the gain of a change counts: Numa.MoveHorizon, or
/// ten minutes where something is forecast.
[[nodiscard]] std::int64_t longest_horizon(const Snapshot& snapshot, const Options& options);

/// Returns the load that the client brings to a node on that basis.
[[nodiscard]] Load load_of(const ClientState& client, Arrangement::Basis basis);

}  // namespace vmnuma
