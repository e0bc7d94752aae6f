// SPDX-License-Identifier: Apache-2.0
/// Plans what should move now.
///
/// Problem: clients on one node are owed CPU time while another node has some to spare, or a
/// client's memory is far from it; and every change costs. Approach: one question for every
/// candidate - how much time would the host lose per epoch after it? - is put to an Arrangement
/// that is changed step by step as actions are chosen:
///   1. clients without a home get one (placement/initial.h);
///   2. while the imbalance of owed time between two nodes is at least Numa.MigImbalanceThreshold,
///      or has been at least a third of it for minutes (due.h): the best one-way move, else the
///      best swap of two clients, else the best set of two to four moves; not if it does not pay
///      because its clients get the time on second nodes as well;
///   3. if step 2 finds nothing, every Numa.LTermFairnessInterval epochs: the move or swap that
///      gives a turn to the clients that were owed most over the last epochs, if the host loses no
///      more in total; never while the effect of the last move is not measured yet;
///   4. broken affinity groups and VMs that talk to each other (placement/action_affinity.h), and
///      locality moves and swaps, which cost no client CPU time, whatever imbalance is left;
///   5. steps 2 to 4 again as long as one of them found something;
///   6. if nothing moves now and a shortage is expected within the next ten minutes, the best
///      one-way move against it, as long as it costs no client CPU time at present;
///   7. clients of nodes that are short of CPU time begin, and others cease, to run on a second
///      node (spill.h);
///   8. memory that lies away from its client's home is pulled there, except for VMs of step 7.
/// A VM is in one action per plan, so that only one order for it is in progress at a time.
/// Terms: *benefit* - gain x horizon - cost (placement/arrangement.h). *Gain* - lost time saved per
/// epoch.
///
/// Properties:
///  - equal input, equal plan;
///  - constraints hold (validator.h);
///  - a second plan on the planned result moves nothing, if no VM of several clients moved;
///  - a VM with missing or stale data is in no action except a spill, once that has lasted
///    (spill.h), and where all moves are tried it does not affect those of other VMs;
///  - renumbered nodes or VMs give the renumbered plan;
///  - with spills taken into account, the host is predicted to lose no more with a load move than
///    without it;
///  - one node gives no moves.
#pragma once

#include "balancer/core/after_plan.h"
#include "placement/model/options.h"
#include "placement/model/plan.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// What the planner must know in addition to the snapshot.
struct Circumstances {
  NodeIndex last_placed_on = kNoNode;  ///< where round robin continues
  bool breaker_open = false;           ///< recent moves did harm: plan none
  bool operator==(const Circumstances&) const = default;
};

[[nodiscard]] Plan make_plan(const Snapshot& snapshot, const Options& options,
                             const Circumstances& circumstances);

}  // namespace vmnuma::balancer
