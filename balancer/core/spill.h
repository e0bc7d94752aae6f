// SPDX-License-Identifier: Apache-2.0
/// Clients that run on the CPUs of a second node while their home is short of CPU time.
///
/// Problem: homes are hard limits. Where clients wait at home while CPUs of another node idle, or
/// are less in demand, a host without a balancer does better; and a move is expensive, lasts, and
/// helps only whole clients. Approach: a client may *spill*: it is pinned to its home and to one
/// more node, and the kernel's load balancer does the rest. Its memory stays, its home stays, and
/// the shortage stays visible to the search for moves, so that a move that pays is still made.
///   - In an epoch a spill saves the owed time of both nodes with the client at home alone, less
///     that with the client's demand spread over both as CFS would spread it (equal demand per
///     CPU), less what its time on the second node loses to remote memory. Non-VM time is that of
///     this epoch, including what does not last.
///   - A spill begins when it saves Numa.MigThreshold of a node, the best one first, and would save
///     something if no other client spilled: otherwise it would end as soon as fewer others share
///     the second node with it, and begin again. It ends when its recent saving, exponentially
///     weighted with a half-life of two epochs, is not positive. So a load that comes and goes
///     every few epochs keeps its spill, as long as it saves on average.
///   - A client that hardly runs on a crowded node (crowding.h) spills ahead of need, and so does
///     one that gets its first home on a node which its expected load makes short (by
///     Numa.MigThreshold, so that a little other load is no reason). Whether such a spill really
///     saves anything is known once the client is measured. Then it has to be among the best, as if
///     it began to spill.
/// Terms: *second node* - any node with CPUs that the client's policy allows, even one without
/// memory.
///
/// Properties:
///  1. No client begins to spill from a node that owes its own clients nothing, except from one
///     with more vCPUs than CPUs, or together with its first home.
///  2. A client has one second node at most, and none after a move.
///  3. A VM whose policy forbids moves, gives it cores of its own, or asks for one part of a node
///     or for all its resources together does not spill; nor does a client that is being moved.
///  4. While a VM cannot be read, a spill that saved something stays as it is. After kUnreadForLong
///     epochs one begins, ahead of need, if hardly a core of its home idles: what uses the cores is
///     unknown, and a second node takes nothing from the VM. It ends once cores of the home idle.
///  5. At most Numa.MigrationsPerEpoch spills, or 4 if that is 0, begin in an epoch because they
///     save, and at most 16 ahead of need.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Returns true if any client spills at present.
[[nodiscard]] bool spills_already(const Snapshot& snapshot);

/// Returns true if the VM could not be read for so long that it may nevertheless begin to spill.
[[nodiscard]] bool is_unread_for_long(const VmState& vm);

/// Returns true if a client's spill stays as it is because its VM cannot be read.
[[nodiscard]] bool is_kept_unread(const Snapshot& snapshot, const ClientState& client);

/// Returns true if the VM's policy lets the client run on a second node at all.
[[nodiscard]] bool policies_allow_spill(const Snapshot& snapshot, const ClientState& client);

/// Returns true if the VM's policy lets the client run on CPUs of that node, regardless of where
/// its memory may be.
[[nodiscard]] bool may_run_on(const Snapshot& snapshot, const ClientState& client, NodeIndex node);

/// Returns all clients that spill from now on, by client. `arrangement` has the homes after all
/// other actions of the plan.
[[nodiscard]] std::vector<Spill> find_spills(const Arrangement& arrangement);

/// Gives second nodes to clients if the expected demand on their first home exceeds its cores by
/// Numa.MigThreshold of it. `arrangement` has the homes after `placements`, the plan's actions so
/// far.
void spread_first_homes(const Arrangement& arrangement, std::span<Action> placements);

/// Returns what the arrangement's clients are owed in total if all run at home.
[[nodiscard]] CpuTime owed_at_home(const Arrangement& arrangement);

/// Returns the arrangement's lost time with the present spills of those clients that are at home.
[[nodiscard]] CpuTime lost_with_present_spills(const Arrangement& arrangement);

/// Returns what clients would be owed, and lose to remote memory on second nodes, if as many
/// spilled as pays off, whatever spills now. The result is assumed to last, so it does not matter
/// which clients have just arrived. With Numa.SpillEnable = 0: what they are owed at home.
[[nodiscard]] CpuTime owed_beside_spills(const Arrangement& arrangement);

/// Returns the arrangement's lost time with these spills, by which moves are predicted and
/// measured.
[[nodiscard]] CpuTime lost_beside_spills(const Arrangement& arrangement);

/// Returns by how much such changes lower lost_beside_spills().
[[nodiscard]] CpuTime gain_beside_spills(const Arrangement& arrangement,
                                         std::span<const Rehoming> changes);

/// Returns what keeps the client, which must have a home, from running on that node as well, or
/// nothing.
[[nodiscard]] std::optional<Guard> check_spill(const Arrangement& arrangement, ClientIndex client,
                                               NodeIndex to);

}  // namespace vmnuma::balancer
