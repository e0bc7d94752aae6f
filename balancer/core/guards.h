// SPDX-License-Identifier: Apache-2.0
/// The guards: what stops a move, each rule with a name.
///
/// Problem: a balancer that acts on every improvement moves VMs back and forth and costs more than
/// it saves. Approach: a candidate passes three sets of checks. The first looks at the client alone
/// (`check_client`: data, policy, time on the node), the second at the target (`check_targets`:
/// mask, way back, groups, cores), the third at the effect of the change (`effect_guard`).
///
/// Properties:
///  - the first check that fails is named;
///  - a client of a stale VM, or on or to a node without readings, is never moved;
///  - every check can be switched off or widened by its option;
///  - for the sake of talk (placement/action_affinity.h) nothing is moved to a busier node, nor if
///    that raises owed time or fills a node beyond Numa.CoreCapRatioPct, so that talkers do not
///    pile up;
///  - talk justifies no other kind of move.
#pragma once

#include <optional>
#include <span>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Returns true if the plan already moves a client of this one's VM: a VM is in one action per
/// plan.
[[nodiscard]] bool vm_is_moved(const Arrangement& arrangement, ClientIndex client);

/// Returns true if the administrator has defined which other VMs or devices the client belongs
/// with: its VM is in an affinity or anti-affinity group, or wants its devices near.
[[nodiscard]] bool has_declared_place(const Arrangement& arrangement, ClientIndex client);

/// Returns the guard that keeps this client from being moved anywhere now, or nothing.
[[nodiscard]] std::optional<Guard> check_client(const Arrangement& arrangement, ClientIndex client,
                                                Reason reason);

/// Returns the first guard that keeps any of the clients that move from its new node, or nothing.
[[nodiscard]] std::optional<Guard> check_targets(const Arrangement& arrangement, Reason reason,
                                                 std::span<const Rehoming> changes);

/// Returns why a set of rehomings with this effect is not worth making for the sake of CPU time or
/// groups, or nothing.
[[nodiscard]] std::optional<Guard> effect_guard(const Arrangement& arrangement, Reason reason,
                                                std::span<const Rehoming> changes,
                                                const Effect& effect);

/// Returns Numa.MigThreshold of a node with that capacity, to the extent that its size counts
/// (Numa.MigThresholdCPUs).
[[nodiscard]] CpuTime least_gain_of(const Arrangement& arrangement, CpuTime capacity);

/// Returns the least gain that is worth acting on: that of the largest node that `changes` touch;
/// for the sake of talk, Numa.MigThreshold of the vCPUs of the client that moves.
[[nodiscard]] CpuTime least_gain(const Arrangement& arrangement, std::span<const Rehoming> changes);
[[nodiscard]] CpuTime least_gain_of_talk(const Arrangement& arrangement, ClientIndex client);

}  // namespace vmnuma::balancer
