// SPDX-License-Identifier: Apache-2.0
/// The choice of all homes at once, as a mixed-integer program.
///
/// Problem: the planner changes a few homes at a time; to know how far its result is from the best
/// of all arrangements one needs a bound on what any arrangement loses. Approach: one 0/1 column
/// per client and node it may live on, one column per node for what its clients are owed, one per
/// pair for what a broken group or a parted talk loses. The cost of a solution is
///
///     owed + standing memory loss + broken groups and parted talks + cost of moving / horizon
///
/// in core-us per epoch: lost time as the planner computes it, and its cost of moving spread over
/// its horizon, so that clients stay if moving does not pay. Rows:
///   - every client lives on one node: one of its mask with known readings, or its home;
///   - clients that the guards hold for an indefinite time (stale, not measured, being moved,
///     forbidden by the administrator) stay; those that only have to wait (residency, way back) may
///     move;
///   - members of a hard anti-affinity group share no node, except for those that do so already;
///   - on each node what arrives is no more than the room plus what leaves, of ordinary memory and
///     of huge pages of each size.
/// With Cost::kMemoryMoved the cost of a solution is the memory that moves, and a little for each
/// move. There are then no rows for owed time, talks or preferences of groups, and clients that
/// only have to wait, or have memory that stays, do not move either.
///
/// Clients without a home are left to the planner. The rule that talk leads no client to a busier
/// node applies to steps, not to homes, and is not in the program.
///
/// *How owed time is made linear.* A node serves demand D with S(D) (placement/capacity.h), which
/// is concave, and each of its clients gets at most what it wants; so together they are owed at
/// least E - S(D), where E is what they are entitled to. S is replaced by tangents, which are never
/// below it. On nodes without SMT and without other load this is exact except for weights. It is
/// too little where S is curved (other load on SMT nodes, at most 1 % of the node between two
/// tangents) and where one client gets more than it is entitled to while its neighbour is owed: on
/// SMT nodes that are more than full, and with reservations. `learn` closes such gaps one
/// arrangement at a time.
/// Properties, each with a test:
///  - no arrangement loses less than its cost in the program;
///  - the present arrangement is a solution;
///  - each kind of row, alone, changes the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/optimal/linear_program.h"
#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Homes of all clients, kNoNode if the snapshot has none.
using Homes = std::vector<NodeIndex>;

class HomesProgram {
 public:
  enum class Cost { kLostTime, kMemoryMoved };
  /// With kMemoryMoved, in MiB: less than any memory that matters.
  static constexpr double kCostOfAMove = 1.0 / 64;

  /// For the arrangement as in its snapshot (basis kDemand). The arrangement must outlive the
  /// program.
  HomesProgram(const Arrangement& now, Cost cost);

  [[nodiscard]] const LinearProgram& program() const { return program_; }
  /// Returns the nodes on which the client may live, ascending; none if it has no home.
  [[nodiscard]] const std::vector<NodeIndex>& choices(ClientIndex client) const {
    return choices_[client];
  }
  [[nodiscard]] Homes homes_of(const std::vector<double>& values) const;
  /// Returns the 0/1 columns for these homes; the others follow from them and are left at 0.
  /// Returns nothing if a client may not live there.
  [[nodiscard]] std::vector<double> values_of(const Homes& homes) const;
  /// Returns how much the program estimates the node's clients to be owed with these homes.
  [[nodiscard]] CpuTime owed(NodeIndex node, const Homes& homes) const;

  /// Requires that `bytes` more memory on pages of that size be free on the node than now,
  /// including memory that clients there were given and have not touched.
  void free_up(NodeIndex node, Bytes page_size, Bytes bytes);
  /// Returns the same program with a cost only for moves of those clients, one flag per client.
  /// With kMemoryMoved.
  [[nodiscard]] LinearProgram costing_only(const std::vector<bool>& clients) const;
  /// Limits the total cost of moves of those clients. With kMemoryMoved.
  void limit_cost(const std::vector<bool>& clients, double limit);
  /// Excludes solutions that move every client whose home differs in `homes` to that home.
  void forbid(const Homes& homes);

  /// If the cost is lost time, adds that `residents` are owed `owed` together on `node`, and
  /// therefore on every node like it: any client added to them can only raise that, and one that is
  /// removed lowers it by no more than owed_drops.h computes.
  void learn(NodeIndex node, const std::vector<ClientIndex>& residents, CpuTime owed);

 private:
  void add_homes();
  void add_owed();
  void add_memory();
  void add_groups();
  void add_talks();
  void keep_within_limits();
  void keep_apart(const std::vector<ClientIndex>& members);
  void add_pair(ClientIndex a, ClientIndex b, double cost, bool apart);
  [[nodiscard]] bool is_held(ClientIndex client) const;
  /// Returns the columns of those of these clients that may live on the node.
  [[nodiscard]] std::vector<ColumnIndex> columns(const std::vector<ClientIndex>& clients,
                                                 NodeIndex node) const;
  /// Returns a column that is 1 if one of `columns` is.
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

/// Returns the room for memory in the snapshot. A pool of huge pages that has less than none has
/// none.
[[nodiscard]] MemoryRoom room_of(const Snapshot& snapshot);

/// Returns true if all clients that `changes` move have room at their new homes. `room` is that of
/// `now`, `then` what has become of `now` since; at any other home than in `now`, all of a client's
/// memory is there.
[[nodiscard]] bool have_room(MemoryRoom room, const Arrangement& now, const Arrangement& then,
                             std::span<const Rehoming> changes);

/// Returns what keeps the client, or its memory, from being moved to make room for others; nothing
/// if it may be moved for that.
[[nodiscard]] std::optional<Guard> room_making_guard(const Arrangement& now, ClientIndex client);

}  // namespace vmnuma::balancer
