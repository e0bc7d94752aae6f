// SPDX-License-Identifier: Apache-2.0
/// The planner's candidates: which moves, swaps and chains are considered, and which is best.
///
/// Problem: all moves are clients x nodes, all swaps clients squared, and sets of more moves are
/// too many to count; a plan must take two milliseconds. Approach: one file for each kind of
/// candidate, each with its own short list:
///   search_load.cc      from nodes that owe: every move; swaps of clients that differ in
///                       demand by about the amount that would even out two nodes
///   search_chains.cc    sets of two to four rehomings of a few clients on a few nodes
///   search_long_term.cc turns for the clients that were owed most over the last epochs
///   search_groups.cc    moves that restore affinity and anti-affinity groups, or unite talkers
///   search_locality.cc  moves and swaps towards memory
/// All are compared with candidate.h's upper bound before they are judged.
///
/// Properties:
///  - which of several equal candidates wins depends only on their indices;
///  - the number of evaluations is at most clients x nodes for moves and bounded for all others.
#pragma once

#include <vector>

#include "balancer/core/candidate.h"
#include "placement/arrangement.h"

namespace vmnuma::balancer {

/// `reason` is kLoadMove, or kForecastMove with an arrangement of expected loads.
void consider_load_moves(const Arrangement& arrangement, Reason reason, Considered& considered);
void consider_load_swaps(const Arrangement& arrangement, Considered& considered);
void consider_chains(const Arrangement& arrangement, Considered& considered);
void consider_long_term(const Arrangement& arrangement, Considered& considered);
void consider_group_moves(const Arrangement& arrangement, Considered& considered);
void consider_locality_moves(const Arrangement& arrangement, Considered& considered);
void consider_locality_swaps(const Arrangement& arrangement, Considered& considered);

/// Returns one client's moves to every node, whatever the gain: for the explanation.
[[nodiscard]] std::vector<Candidate> all_moves_of(const Arrangement& arrangement,
                                                  ClientIndex client);

}  // namespace vmnuma::balancer
