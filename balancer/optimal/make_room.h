// SPDX-License-Identifier: Apache-2.0
/// Finds the cheapest moves after which a VM that is about to start fits on one node.
///
/// Problem: much memory is free on a host, but no node has enough for a large VM; moving a small VM
/// or two would be enough, and which ones is not obvious. Approach: for each node on which the VM
/// could live, the program of all homes (program.h) is solved with another cost, the memory that
/// moves, and one additional row: the amount of memory that must become free on that node. Nodes
/// are tried in order of how much is missing there, and a node is left out if at least as much
/// would have to move as for an earlier one; each gets half of the time that is left. The answer of
/// the cheapest node is put in order (sequence.h) and checked against the rules of the planner
/// (core/validator.h). An answer for which there is no order is forbidden and the program solved
/// again. VMs have priorities (VmPolicy::priority): the program is solved once for each, from the
/// highest down, counting only the moves of such VMs as cost, and the least cost found is kept as a
/// limit from then on.
/// Terms: *cost* - of each priority, the highest first: the memory of its VMs that moves, then the
/// number of their moves. *In the way* - a client that must not move now and has memory on a node
/// on which the VM could live.
/// Properties, each with a test:
///  - once the steps are carried out, the VM fits; if it fits already there are no steps;
///  - no client moves that must not: stale, not measured, being moved, forbidden by the
///    administrator, not long enough on its node, or with memory that cannot be moved or is in
///    transit;
///  - on small hosts, where all arrangements can be tried, there is no cheaper way; so a VM with a
///    higher priority than another is moved only if the other cannot make the room, and one above
///    the priority of the VM that starts only if there is no way without it;
///  - of ways that cost the same, one is chosen for which no other single target would lose less.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "balancer/optimal/assignment.h"
#include "balancer/optimal/sequence.h"
#include "placement/admission.h"

namespace vmnuma::balancer {

/// What the VM that is about to start needs on one node.
struct RoomWanted {
  std::int32_t vcpus = 1;
  Bytes memory;
  Bytes page_size;               ///< of hugetlbfs; zero: ordinary pages
  std::vector<NodeIndex> nodes;  ///< one of these, ascending
};

struct InTheWay {
  ClientId client;
  NodeIndex on = kNoNode;
  Bytes memory;  ///< the client's memory there
  Guard because{};
  std::string detail;  ///< for kStaleData and kMemoryStays: the reason in the snapshot; else empty
  bool operator==(const InTheWay&) const = default;
};

struct RoomMade {
  NodeIndex node = kNoNode;  ///< the node on which the VM then fits; kNoNode: none
  Sequence sequence;         ///< no steps if it fits already
  Bytes memory;              ///< how much of it moves
  Bytes least;               ///< every way moves at least this much
  std::int64_t moves = 0;
  /// Why the VM fits nowhere, as a sentence; empty if it fits.
  std::string refused;
  std::vector<InTheWay> in_the_way;  ///< most memory first; only if the VM fits nowhere
  bool is_cheapest = true;           ///< false: the time was up before that was known
};

/// Finds the cheapest moves. `now` has basis kDemand and is as its snapshot; `free` is what
/// admission would find now, by node of the snapshot and for the pools of `wanted.page_size`.
/// `clock` returns seconds.
[[nodiscard]] RoomMade make_room(const Arrangement& now, const FreeForVm& free,
                                 const RoomWanted& wanted, double seconds,
                                 const std::function<double()>& clock);

}  // namespace vmnuma::balancer
