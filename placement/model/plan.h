// SPDX-License-Identifier: Apache-2.0
/// A plan is data: what to do, why, its expected gain and cost, and the alternatives considered.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/base/names.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/reason.h"
#include "placement/model/snapshot.h"

namespace vmnuma {

/// Why a candidate was not taken.
enum class Guard {
  kMinimumGain,        ///< lowers lost time by less than Numa.MigThreshold
  kDoesNotPay,         ///< gain over the horizon is less than the cost of moving
  kResidualImbalance,  ///< would leave more than Numa.MigThrashThreshold of the imbalance
  kResidency,          ///< the client has not been on its node for Numa.Residency epochs
  kRotationCooldown,   ///< a turn too soon after long transfers of its clients or a neighbour
  kNoReturn,           ///< the client left that node less than Numa.NoReturn epochs ago
  kSwapReconsider,     ///< swapped less than Numa.SwapConsiderPeriod epochs ago
  kCoreCapacity,       ///< would take the target above Numa.CoreCapRatioPct
  kNoRoom,             ///< the target does not have enough free memory above its reserve
  kMemoryStays,        ///< the client's memory cannot follow
  kDoNotMove,          ///< the administrator has forbidden it
  kNotAllowed,         ///< the node is outside the client's mask
  kNoFreeCores,        ///< the target has too few cores to give to a VM alone
  kAntiAffinity,       ///< a hard anti-affinity group, or max_per_node
  kStaleData,          ///< the VM must not be touched, or figures of it or of the node are missing
  kMoving,             ///< an earlier action of the client is not finished
  kActionLimit,        ///< Numa.MigrationsPerEpoch is used up
  kLongTermImbalance,  ///< would raise long-term imbalance above Numa.MigPreventLTermThresh
  kBreaker,            ///< the circuit breaker is open
  kDisabled,           ///< Numa.RebalanceCoresTotal or Numa.RebalanceCoresNode is not met
  kNotBest,            ///< possible, but another action was better
  kOwedTime,           ///< would bring VMs that talk together at the price of owed CPU time
  kBusierNode,         ///< VMs that talk may only meet on the less busy of their nodes
  kDoesNotLast,        ///< would pay, but not with the expected or the recent loads
  kNotDue,             ///< the best load move, in an epoch in which none is due
};
[[nodiscard]] constexpr auto names(Guard) {
  return names_in_order<Guard>("minimum-gain", "does-not-pay", "residual-imbalance", "residency",
                               "travel", "no-return", "swap-reconsider", "core-capacity", "no-room",
                               "memory-stays", "do-not-move", "not-allowed", "no-free-cores",
                               "anti-affinity", "stale-data", "moving", "action-limit",
                               "long-term-imbalance", "breaker", "disabled", "not-best",
                               "owed-time", "busier-node", "does-not-last", "not-due");
}

/// Moves one client from its node to its new node.
struct Relocation {
  ClientId client;
  NodeIndex from = kNoNode;  ///< kNoNode at its first placement
  NodeIndex to = kNoNode;
  Bytes memory;                   ///< what has to move
  NodeIndex spills_to = kNoNode;  ///< it may use this node's CPUs as well as those of `to`
  bool operator==(const Relocation&) const = default;
};

/// The expected result of an action. Lost time is that of the whole host per epoch, with as many
/// clients spilling as pays off, before and after.
struct Prediction {
  CpuTime lost_before;
  CpuTime lost_after;
  CpuTime gain_at_home;       ///< lost time saved if no client spilled, before and after
  CpuTime cost;               ///< once
  Permille imbalance_before;  ///< largest difference of owed / capacity between two nodes
  Permille imbalance_after;
  Permille locality_before;  ///< of the clients that move, taken together
  Permille locality_after;
  bool known = true;  ///< false: not measured, or not computed; all other fields are 0
  bool operator==(const Prediction&) const = default;
};

struct Action {
  Reason reason{};
  /// One; two for a swap; up to four for a chain; one per client for placements and pulls. In a
  /// pull `from` and `to` are the same node.
  std::vector<Relocation> relocations;
  Prediction predicted;
  bool operator==(const Action&) const = default;
};

/// A candidate that was considered and not taken.
struct Rejection {
  Reason reason{};
  ClientId client;
  NodeIndex from = kNoNode;
  NodeIndex to = kNoNode;
  ClientId partner;  ///< of a swap; equals `client` otherwise
  Guard guard{};
  CpuTime gain;  ///< lost time saved per epoch if no client spilled; may be negative
  bool operator==(const Rejection&) const = default;
};

/// A client that runs on the CPUs of a second node as well (balancer/core/spill.h).
struct Spill {
  ClientId client;
  NodeIndex to = kNoNode;
  CpuTime saves;  ///< per epoch, exponentially weighted
  bool operator==(const Spill&) const = default;
};

struct Plan {
  std::int64_t epoch = 0;
  std::vector<Action> actions;        ///< in the order of execution
  std::vector<Spill> spills;          ///< of all clients after the actions, by client
  std::vector<Rejection> rejections;  ///< best first, a bounded number per client
  CpuTime lost;                       ///< of the host at present, per epoch, spills included
  Permille imbalance;
  bool operator==(const Plan&) const = default;
};

}  // namespace vmnuma
