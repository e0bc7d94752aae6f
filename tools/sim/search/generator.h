// SPDX-License-Identifier: Apache-2.0
/// Scenarios out of chance.
///
/// Problem: scenarios that were written by those who wrote the planner have in them what these
/// thought of. Approach: hosts and loads are drawn from what a scenario file can say, small ones
/// mostly, because many of these can be tried and what they show is easier to see. Rules of the
/// administrator that the other policies know nothing of (masks of nodes, VMs that must not move,
/// hard groups) are left out: keeping them costs something, and that is no weakness. Whatever is
/// drawn or changed goes through repair(), which makes a scenario of it that could be read from a
/// file.
///
/// Properties, each with a test:
///  - the same random numbers give the same scenario;
///  - what comes out of random_scenario() and mutated() can be written and read back equal.
#pragma once

#include "tools/sim/scenario/random.h"
#include "tools/sim/scenario/scenario.h"

namespace vmnuma::tools {

[[nodiscard]] Scenario random_scenario(Random& random);

/// With one to three things changed, added or taken away.
[[nodiscard]] Scenario mutated(Scenario scenario, Random& random);

/// Mends references to nodes and VMs that are not there, amounts that are out of range, and memory
/// that the host has not got.
void repair(Scenario& scenario);

}  // namespace vmnuma::tools
