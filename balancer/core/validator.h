// SPDX-License-Identifier: Apache-2.0
/// Proves of every plan, before it is acted on, that it is one.
///
/// Problem: a planner fast enough for its epoch is full of bounds, running sums and short lists; a
/// mistake in it would move a VM. Approach: the rules are written down a second time, in the order
/// in which a plan is read, on a model that shares no code with the planner's but the definitions
/// (reckoning.h). What it finds is a bug of ours: the controller acts on nothing of such a plan and
/// says so. Rules:
///   - every client and node is known, the target can be a home, is allowed and has readings; no VM
///     is in two actions;
///   - what the reason says is what is done: a swap exchanges two homes, a pull moves no home, a
///     placement is of a client that has none, everything else starts at the client's home;
///   - the client may be moved: fresh, measured, not moving, not forbidden by the administrator,
///     long enough where it is, not straight back, not swapped again; no hard group is broken;
///   - what was switched off, is not due in this epoch or goes beyond Numa.MigrationsPerEpoch is
///     not done; nothing but placements, pulls and spills with an open breaker or on too small a
///     host;
///   - a spill is of clients of one VM, moves no memory, and begins only where more is demanded at
///     home than there are cores, towards a node that has CPUs;
///   - memory is counted right and there is room for it on the target;
///   - gain, cost, residual imbalance, cores and locality are within the thresholds; a move for
///     talk alone raises no owed time and goes to no busier node;
///   - each action's figures begin where those of the one before end; the gain at home is what the
///     model says, within rounding, and what spills save of it no more than is owed.
///
/// Properties:
///  - no plan of make_plan is refused;
///  - each rule, broken alone, is named.
#pragma once

#include <string>
#include <vector>

#include "balancer/core/planner.h"

namespace vmnuma::balancer {

/// What is wrong with the plan: "action 2 (load-move): 'web'/0 has been on its node for 3 epochs,
/// less than Numa.Residency". Actions are counted from 1. Empty if nothing is.
[[nodiscard]] std::vector<std::string> violations_of(const Plan& plan, const Snapshot& snapshot,
                                                     const Options& options,
                                                     const Circumstances& circumstances);

/// The same for what an administrator orders, one action after the other: which client may be moved
/// and where to, groups, cores and room count; what a plan waits for, how much it does and what it
/// brings do not.
[[nodiscard]] std::vector<std::string> violations_of_orders(const Plan& orders,
                                                            const Snapshot& snapshot,
                                                            const Options& options);

}  // namespace vmnuma::balancer
