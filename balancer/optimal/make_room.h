// SPDX-License-Identifier: Apache-2.0
/// The cheapest moves after which a VM that is to start fits on one node.
///
/// Problem: much memory is free on a host, but on no node enough for a large VM; moving a small VM
/// or two would do, and which ones is not obvious. Approach: for each node on which it could live,
/// the program of all homes (program.h) with another cost, the memory that travels, and one row
/// more: on that node so much memory becomes free. Nodes are tried in order of how much is missing
/// there, and a node is left out if as much would have to move as on one before; each has half of
/// the time that is left. The answer of the cheapest node is put in order (sequence.h) and checked
/// against the rules of the planner (core/validator.h). An answer for which there is no order is
/// forbidden and the program solved again. VMs have priorities (VmPolicy::priority): the program is
/// solved once for each, from the highest down, with only the moves of such VMs as cost, and the
/// least cost found is kept as a limit from then on. Terms: *cost* - of each priority, the highest
/// first, memory of its VMs that travels, then the number of their moves; *in the way* - a client
/// that may not move now and has memory on a node on which the VM could live. Properties, each with
/// a test:
///  - once the steps are carried out, the VM fits; if it fits already there are no steps;
///  - no client moves that may not: stale, not measured, under way, forbidden by the administrator,
///    not long enough on its node, its memory not to be moved or on its way;
///  - on small hosts, of which all arrangements can be tried, there is no cheaper way; so a VM with
///    a higher priority than another is moved only where the other cannot make the room, and one
///    above that of the VM that starts only if there is no way without it;
///  - of ways that cost the same, one is taken of which no single other target would lose less.
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

/// What the VM that is to start needs on one node.
struct RoomWanted {
  std::int32_t vcpus = 1;
  Bytes memory;
  Bytes page_size;               ///< of hugetlbfs; zero: ordinary pages
  std::vector<NodeIndex> nodes;  ///< one of these, ascending
};

struct InTheWay {
  ClientId client;
  NodeIndex on = kNoNode;
  Bytes memory;  ///< what it has there
  Guard because{};
  std::string detail;  ///< of kStaleData and kMemoryStays: what the snapshot says; or empty
  bool operator==(const InTheWay&) const = default;
};

struct RoomMade {
  NodeIndex node = kNoNode;  ///< where it fits then; kNoNode: nowhere
  Sequence sequence;         ///< no steps if it fits already
  Bytes memory;              ///< that travels
  Bytes least;               ///< every way moves at least so much
  std::int64_t moves = 0;
  /// Why it fits nowhere, as a sentence; empty if it fits.
  std::string refused;
  std::vector<InTheWay> in_the_way;  ///< most memory first; only if it fits nowhere
  bool is_cheapest = true;           ///< false: time was up before that was known
};

/// `now` is of basis kDemand and as its snapshot; `free` is what admission would find now, by node
/// of the snapshot and for the pools of `wanted.page_size`. `clock` gives seconds.
[[nodiscard]] RoomMade make_room(const Arrangement& now, const FreeForVm& free,
                                 const RoomWanted& wanted, double seconds,
                                 const std::function<double()>& clock);

}  // namespace vmnuma::balancer
