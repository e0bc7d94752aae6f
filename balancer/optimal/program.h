// SPDX-License-Identifier: Apache-2.0
/// The choice of all homes at once, as a mixed-integer program.
///
/// Problem: the planner changes a few homes at a time; to tell how far its result is from the best
/// of all arrangements one needs a bound on what any arrangement loses. Approach: one 0/1 column
/// per client and node it may live on, one column per node for what its clients are owed, one per
/// pair for what a broken group or a parted talk loses. The cost of a solution is
///
///     owed + standing memory loss + broken groups and parted talks + what moving costs / horizon
///
/// in core-us per epoch: lost time as the planner computes it, and its cost of moving spread over
/// its horizon, so that clients stay where moving does not pay. Rows:
///   - every client lives on one node: one of its mask with known readings, or its home;
///   - clients that the guards hold for an indefinite time (stale, not measured, under way,
///     forbidden by the administrator) stay; those that only have to wait (residency, way back) may
///     go;
///   - members of a hard anti-affinity group share no node, except for those that do so already;
///   - on each node what comes is no more than room and what leaves, of ordinary memory and of huge
///     pages of each size.
/// With Cost::kMemoryMoved the cost of a solution is the memory that travels, and a little for each
/// move. There are no rows for owed time, talks or wishes of groups then, and clients that only
/// have to wait, or have memory that stays, stay as well.
///
/// Clients without a home are left to the planner. That talk leads no client to a busier node is a
/// rule of steps, not of homes, and not in the program.
///
/// *How owed time is made linear.* A node serves demand D with S(D) (placement/capacity.h), which
/// is concave, and each of its clients gets at most what it wants; so together they are owed at
/// least E - S(D), E being what they are entitled to. S is replaced by tangents, which are never
/// below it. On nodes without SMT and without other load this is exact except for weights, as the
/// planner's own test of a promise (NodeLoad::least_owed). It is too little where S is curved
/// (other load on SMT nodes, at most 1 % of the node between two tangents) and where one client
/// gets more than it is entitled to while its neighbour is owed: on SMT nodes that are more than
/// full, and with reservations. `learn` closes such gaps one arrangement at a time. Properties,
/// each with a test: no arrangement loses less than its cost in the program; the present
/// arrangement is a solution; each kind of row, alone, changes the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/optimal/linear_program.h"
#include "balancer/optimal/memory_pool.h"
#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Homes of all clients, kNoNode where the snapshot has none.
using Homes = std::vector<NodeIndex>;

class HomesProgram {
 public:
  enum class Cost { kLostTime, kMemoryMoved };
  /// With kMemoryMoved, in MiB: less than any memory that matters.
  static constexpr double kCostOfAMove = 1.0 / 64;

  /// For the arrangement as the snapshot has it (basis kDemand), which must outlive the program.
  HomesProgram(const Arrangement& now, const std::vector<MemoryPool>& pools, Cost cost);

  [[nodiscard]] const LinearProgram& program() const { return program_; }
  /// Nodes that the client may live on, ascending; none if it has no home.
  [[nodiscard]] const std::vector<NodeIndex>& choices(ClientIndex client) const {
    return choices_[client];
  }
  [[nodiscard]] Homes homes_of(const std::vector<double>& values) const;
  /// The 0/1 columns for these homes; the others follow from them and are left at 0. Nothing if a
  /// client may not live there.
  [[nodiscard]] std::vector<double> values_of(const Homes& homes) const;
  /// How much the program estimates the node's clients to be owed with these homes.
  [[nodiscard]] CpuTime owed(NodeIndex node, const Homes& homes) const;

  /// Requires so much more of the pool to be free on the node than now, including memory that
  /// clients there were given and have not touched.
  void free_up(NodeIndex node, const MemoryPool& pool, Bytes bytes);
  /// The same program in which only moves of those clients, one flag per client, have a cost. With
  /// kMemoryMoved.
  [[nodiscard]] LinearProgram costing_only(const std::vector<bool>& clients) const;
  /// Limits what moves of those clients may cost together. With kMemoryMoved.
  void limit_cost(const std::vector<bool>& clients, double limit);
  /// Excludes solutions that move all clients with a changed home in `homes` to where these say.
  void forbid(const Homes& homes);

  /// Tells the program, if its cost is lost time, that `residents` are owed `owed` together on
  /// `node`, and so on every node like it: any client added to them can only raise that, and one
  /// taken away lowers it by no more than owed_drops.h says.
  void learn(NodeIndex node, const std::vector<ClientIndex>& residents, CpuTime owed);

 private:
  void add_homes();
  void add_owed();
  void add_memory(const MemoryPool& pool);
  void add_groups();
  void add_talks();
  void keep_within_limits();
  void keep_apart(const std::vector<ClientIndex>& members);
  void add_pair(ClientIndex a, ClientIndex b, double cost, bool apart);
  [[nodiscard]] bool is_held(ClientIndex client) const;
  /// The columns of these clients on the node, as far as they may live there.
  [[nodiscard]] std::vector<ColumnIndex> columns(const std::vector<ClientIndex>& clients,
                                                 NodeIndex node) const;
  /// A column that is 1 if one of `columns` is.
  [[nodiscard]] ColumnIndex any_of(const std::vector<ColumnIndex>& columns);

  static constexpr ColumnIndex kNone = static_cast<ColumnIndex>(-1);

  [[nodiscard]] bool may_go(ClientIndex client, NodeIndex node) const;
  [[nodiscard]] double cost_of(ClientIndex client, NodeIndex node) const;

  const Arrangement* now_;
  Cost cost_;
  LinearProgram program_;
  std::vector<std::vector<NodeIndex>> choices_;
  std::vector<std::vector<ColumnIndex>> columns_;    ///< per client and node; kNone: no choice
  std::vector<ColumnIndex> owed_;                    ///< per node
  std::vector<std::vector<std::size_t>> owed_rows_;  ///< per node
};

/// What keeps the client, or its memory, from being moved to make room for others; nothing if it
/// may be moved for that.
[[nodiscard]] std::optional<Guard> why_not_to_make_room(const Arrangement& now, ClientIndex client);

}  // namespace vmnuma::balancer
