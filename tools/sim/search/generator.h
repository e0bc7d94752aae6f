// SPDX-License-Identifier: Apache-2.0
/// Generates random scenarios.
///
/// Problem: scenarios written by the authors of the planner contain only what those authors thought
/// of. Approach: hosts and loads are drawn from everything that a scenario file can express. Most
/// are small, because many small scenarios can be tried and their causes are easier to see. Rules
/// of the administrator that the other policies do not know (masks of nodes, VMs that must not
/// move, hard groups, CPUs of their own) come only from with_rules(): keeping them costs something,
/// which is not a weakness; but whatever the rules are, no oracle may be violated. Options are not
/// drawn, because the balancer is tested as shipped. Everything drawn or changed passes through
/// repair(), which turns it into a scenario that could be read from a file.
///
/// Properties, each with a test:
///  - the same random numbers give the same scenario;
///  - results of random_scenario(), with_rules() and mutated() can be written and read back equal;
///  - everything that a scenario file can express about hosts, VMs, talk and faults is drawn sooner
///    or later;
///  - all reservations can be kept: together they are at most three quarters of the host's cores,
///    and each is within its VM's quota;
///  - what VMs state about the cost of remote memory is true, and so is what a history contains.
#pragma once

#include "tools/sim/scenario/random.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

[[nodiscard]] Scenario random_scenario(Random& random);

/// Returns the scenario with administrator's rules for some of its VMs and for the host.
[[nodiscard]] Scenario with_rules(Scenario scenario, Random& random);

/// Returns the scenario with one to three things changed, added or removed.
[[nodiscard]] Scenario mutated(Scenario scenario, Random& random);

/// Repairs references to missing nodes and VMs, amounts out of range, memory and reserved CPU time
/// that the host does not have, and statements about loads and remote memory.
void repair(Scenario& scenario);

}  // namespace vmnuma::tools
