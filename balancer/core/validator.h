// SPDX-License-Identifier: Apache-2.0
/// Checks every plan against the rules for plans before it is acted on.
///
/// Problem: a planner fast enough for its epoch is full of bounds, running sums and short lists; a
/// mistake in it would move a VM. Approach: the rules are written down a second time, in the order
/// in which a plan is read, on a model that shares only the definitions with the planner, no other
/// code (reckoning.h). A violation is a bug of ours: the controller carries out nothing of such a
/// plan and reports it. Rules:
///   - every client and node is known, the target can be a home, is allowed and has readings; no VM
///     is in two actions;
///   - each action does what its reason implies: a swap exchanges two homes, a pull moves no home,
///     a placement is of a client that has none, everything else starts at the client's home;
///   - the client may be moved: fresh, measured, not moving, not forbidden by the administrator,
///     long enough where it is, not straight back, not swapped again; no hard group is broken;
///   - nothing is done that is switched off, is not due in this epoch or exceeds
///     Numa.MigrationsPerEpoch; with an open breaker or on too small a host, nothing is done except
///     placements, pulls and spills;
///   - a spill is of clients of one VM, moves no memory, and begins only if more is demanded at
///     home than there are cores, towards a node that has CPUs;
///   - memory is counted correctly and there is room for it on the target;
///   - gain, cost, residual imbalance, cores and locality are within the thresholds; a move for
///     talk alone raises no owed time and goes to no busier node;
///   - each action's figures begin where those of the one before end; the gain at home is what the
///     model computes, within rounding, and spills save no more of it than is owed.
///
/// Properties:
///  - no plan of make_plan is refused;
///  - each rule, broken alone, is named.
#pragma once

#include <string>
#include <vector>

#include "balancer/core/planner.h"

namespace vmnuma::balancer {

/// Returns what is wrong with the plan: "action 2 (load-move): 'web'/0 has been on its node for 3
/// epochs, less than Numa.Residency". Actions are counted from 1. Empty if nothing is wrong.
[[nodiscard]] std::vector<std::string> violations_of(const Plan& plan, const Snapshot& snapshot,
                                                     const Options& options,
                                                     const Circumstances& circumstances);

/// The same for an administrator's orders, one action after the other. The rules about which client
/// may be moved and where to, groups, cores and room apply; those about when a plan acts, how much
/// it does and what it gains do not.
[[nodiscard]] std::vector<std::string> violations_of_orders(const Plan& orders,
                                                            const Snapshot& snapshot,
                                                            const Options& options);

}  // namespace vmnuma::balancer
