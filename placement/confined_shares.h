// SPDX-License-Identifier: Apache-2.0
/// Weighted max-min fairness among claimants that can use only some of the nodes.
///
/// Problem: a VM that is confined to two nodes of four cannot use the other two. If the host counts
/// as one large node, confined VMs are promised more than their nodes have, and seem to be owed it
/// forever.
///
/// Approach: the claimants that are confined to a set of nodes, or to a part of it, together get at
/// most what the set has. The sets that can matter are the confinements and the unions of
/// overlapping ones. The set in which claimants end up lowest settles their shares (fair_share.h);
/// the others follow with what is left, until no set is short.
///
/// Terms:
///   - *confinement*: the nodes on which a claimant can use CPUs;
///   - *pool*: a set of nodes and the claimants that are confined to it or to part of it.
///
/// Properties:
///  1. With one confinement for all, shares are fair_shares() of what its nodes have.
///  2. No pool gives more than its nodes have for the demand, except for 1 us of rounding per
///     claim.
///  3. Every claim below its ceiling is in a pool that has nothing left, in which no other claim
///     has more by weight unless it is at its floor (1 us of rounding per claim).
///  4. What the claimants of a confinement leave goes to those of a wider one.
///  5. There are at most 64 pools, or as many as confinements. If unions are left out because of
///     that, no confinement gives more than it has, but overlapping ones may together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "placement/capacity.h"
#include "placement/fair_share.h"
#include "placement/model/topology.h"

namespace vmnuma {

/// Ascending.
using NodeSet = std::vector<NodeIndex>;

struct ConfinedClaim {
  Claim claim;
  CpuTime demand;               ///< thread time that it wants
  std::size_t confinement = 0;  ///< index into the confinements
};

/// Returns each claim's core time, in the order of the claims. `nodes`: by NodeIndex; all with the
/// same smt_gain_pct. No two confinements may be equal.
[[nodiscard]] std::vector<CpuTime> confined_shares(std::span<const Supply> nodes,
                                                   std::span<const NodeSet> confinements,
                                                   std::span<const ConfinedClaim> claims);

}  // namespace vmnuma
