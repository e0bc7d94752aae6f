// SPDX-License-Identifier: Apache-2.0
/// Weighted max-min fairness among claimants that can use only some of the nodes.
///
/// Problem: VMs that are confined to two nodes of four cannot use the other two, so the host taken
/// as one large node promises them what nothing can give, and they seem to be owed it for ever.
/// Approach: whatever set of nodes is taken, those who are confined to it cannot get more than it
/// has. Of all sets that could matter, which are the confinements and unions of those that overlap,
/// the one whose claimants come out lowest settles their shares (fair_share.h); so on with the
/// rest, until no set is short. Terms: *confinement* - nodes whose CPUs a claimant can use. *Pool*
/// - a set of nodes with those who are confined to it or to some of it.
///
/// Properties:
///  1. With one confinement for all it is fair_shares() of what these nodes have.
///  2. No pool gives more than its nodes can for the demand, but for 1 us of rounding a claim.
///  3. A claim below its ceiling is in a pool that has nothing left, in which nobody has more by
///  weight but by its floor (1 us of rounding a claim).
///  4. What claimants of a confinement leave goes to those of a wider one.
///  5. Beyond 64 pools further unions are not looked at: then shares may add up to more than there
///  is, as without any of this.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "placement/capacity.h"
#include "placement/fair_share.h"
#include "placement/model/topology.h"

namespace vmnuma::placement {

/// Ascending.
using NodeSet = std::vector<NodeIndex>;

struct ConfinedClaim {
  Claim claim;
  CpuTime demand;               ///< thread time that it wants
  std::size_t confinement = 0;  ///< its index
};

/// Core time for each claim, in the order of the claims. `nodes`: by NodeIndex; all with the same
/// smt_gain_pct. Confinements are different ones.
[[nodiscard]] std::vector<CpuTime> confined_shares(std::span<const Supply> nodes,
                                                   std::span<const NodeSet> confinements,
                                                   std::span<const ConfinedClaim> claims);

}  // namespace vmnuma::placement
