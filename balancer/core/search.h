// SPDX-License-Identifier: Apache-2.0
/// The planner's candidates: which moves, swaps and chains are looked at, and which is best.
///
/// Problem: all moves are clients x nodes and all swaps clients squared; a plan must take two
/// milliseconds. Approach: moves are tried from nodes that owe, and a client whose leaving saves
/// too little is not tried anywhere. Swaps pair each client of the nodes that owe most with those
/// clients of the other node whose demand is nearest to what would even the two out; between nodes
/// with few clients all pairs are tried. Properties: the result does not depend on the order of
/// equal candidates but by index; the number of evaluations is at most clients x nodes for moves
/// and bounded for swaps and chains.
#pragma once

#include <optional>
#include <vector>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// A change that was looked at: what it is, what it brings, and what stops it, if anything.
struct Candidate {
  placement::Reason reason{};
  std::vector<placement::Rehoming> changes;
  placement::Effect effect;
  placement::CpuTime benefit;  ///< gain x horizon - cost
  std::optional<placement::Guard> stopped_by;
};

/// Keeps the best candidate that nothing stops, and the best few of those that something does.
class Considered {
 public:
  void add(Candidate candidate);
  [[nodiscard]] const std::optional<Candidate>& best() const { return best_; }
  [[nodiscard]] const std::vector<Candidate>& stopped() const { return stopped_; }
  /// True if a candidate with at most this gain would be kept nowhere.
  [[nodiscard]] bool hopeless(placement::CpuTime gain) const;

 private:
  std::optional<Candidate> best_;
  std::vector<Candidate> stopped_;  ///< best gain first, at most kMostStopped
};

void consider_load_moves(const placement::Arrangement& arrangement, Considered& considered);
void consider_load_swaps(const placement::Arrangement& arrangement, Considered& considered);
void consider_chains(const placement::Arrangement& arrangement, Considered& considered);
void consider_long_term(const placement::Arrangement& arrangement, Considered& considered);
void consider_group_moves(const placement::Arrangement& arrangement, Considered& considered);
void consider_locality_moves(const placement::Arrangement& arrangement, Considered& considered);
void consider_locality_swaps(const placement::Arrangement& arrangement, Considered& considered);

/// Every node for one client, whatever the gain: for the explanation.
[[nodiscard]] std::vector<Candidate> all_moves_of(const placement::Arrangement& arrangement,
                                                  placement::ClientIndex client);

}  // namespace vmnuma::balancer
