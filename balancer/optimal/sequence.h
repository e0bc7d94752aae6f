// SPDX-License-Identifier: Apache-2.0
/// The order in which clients go to their new homes.
///
/// Problem: the best homes are known, but not every client can go there first: a node may have no
/// room before another client has left it, a hard group may still be in the way. Approach: of all
/// moves that are possible at each point, the one that saves most is next; if there is none, two
/// clients move at the same time, or up to four in a ring, so that clients that leave make room for
/// those that arrive. What cannot be ordered that way is left where it is, and reported.
///
/// Properties:
///  - after each step every node has room for what arrived, and no hard group is broken that was
///    not broken before;
///  - every client that moves is in exactly one step;
///  - the time grows with the square of the number of clients that move, however many rings they
///    could form;
///  - the last step's figures are those of the homes that were reached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/optimal/program.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

struct Step {
  std::vector<Relocation> relocations;  ///< all at once
  CpuTime lost_before;                  ///< of the whole host per epoch, without spills
  CpuTime lost_after;
  CpuTime cost;  ///< of moving, once
};

/// A client that has no way to its new home.
struct Stuck {
  ClientId client;
  NodeIndex to = kNoNode;
  Guard because{};  ///< kNoRoom or kAntiAffinity
};

struct Sequence {
  std::vector<Step> steps;
  std::vector<Stuck> stuck;
  Homes reached;
};

/// How many sets of clients are tried, in all, where no client can go by itself: enough for a few
/// hundred clients, and a matter of seconds.
inline constexpr std::int64_t kMostSetsTried = 1'000'000;

/// Returns the steps from the homes of `now` to `homes`. A client without a home in either is left
/// out. What would have moved in a set after the first `most_sets` is stuck.
[[nodiscard]] Sequence in_order(const Arrangement& now, const Homes& homes,
                                std::int64_t most_sets = kMostSetsTried);

}  // namespace vmnuma::balancer
