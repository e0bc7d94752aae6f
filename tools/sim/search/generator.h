// SPDX-License-Identifier: Apache-2.0
/// Random scenarios.
///
/// Problem: scenarios written by the authors of the planner contain what those authors thought of.
/// Approach: hosts and loads are drawn from what a scenario file can express, mostly small ones,
/// because many of these can be tried and what they show is easier to see. Rules of the
/// administrator that the other policies do not know (masks of nodes, VMs that must not move, hard
/// groups, CPUs of their own) come from with_rules() alone: keeping them costs something, and that
/// is no weakness; but whatever they are, what must never happen must not happen. Options are not
/// drawn: what is tried is the balancer as shipped. Whatever is drawn or changed goes through
/// repair(), which turns it into a scenario that could be read from a file.
///
/// Properties, each with a test:
///  - the same random numbers give the same scenario;
///  - results of random_scenario(), with_rules() and mutated() can be written and read back equal;
///  - whatever a scenario file can say of hosts, VMs, talk and faults is drawn at some time;
///  - nothing is promised that cannot be kept: all reservations together are at most three quarters
///    of the host's cores, and each is within its VM's quota;
///  - what VMs say about the cost of remote memory is true, and so is what a history knows.
#pragma once

#include "tools/sim/scenario/random.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

[[nodiscard]] Scenario random_scenario(Random& random);

/// With rules of the administrator for some of its VMs, and for the host.
[[nodiscard]] Scenario with_rules(Scenario scenario, Random& random);

/// With one to three things changed, added or removed.
[[nodiscard]] Scenario mutated(Scenario scenario, Random& random);

/// Repairs references to missing nodes and VMs, amounts out of range, memory and reserved CPU time
/// that the host does not have, and statements about loads and remote memory.
void repair(Scenario& scenario);

}  // namespace vmnuma::tools
