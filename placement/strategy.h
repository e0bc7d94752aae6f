// SPDX-License-Identifier: Apache-2.0
/// Chooses among the nodes with room for a VM without a home, if its policy has a strategy.
///
/// Problem: the node that costs the host the least lost time now is not always where the
/// administrator wants a VM: the administrator may want to keep nodes empty for large VMs still to
/// come, or to spread by promised CPUs instead of by current use. Approach: a node's CPUs are
/// *allocated* by the clients that live there, however much they use; a strategy ranks nodes by
/// that. It comes after room for the memory and after the nodes where libvirt was told to start the
/// VM, and before lost time, so that nodes of equal rank are compared as without a strategy. It
/// only chooses first homes: afterwards a client moves when time is lost, and not because a
/// strategy would now choose otherwise.
/// Terms: *allocated* - CPUs of a node that its clients take: one for each vCPU, or the threads of
/// the cores that belong to one client alone. *Has CPUs* - the allocated CPUs and the client's
/// together are no more than the node's CPUs.
/// Properties:
///  1. kLeastLostTime (and kHost, which means the same until the host's strategy has replaced it)
///     ranks all nodes equal.
///  2. With the others, while a node has CPUs, none without is chosen; those without rank equal.
///  3. kMostAllocated prefers the node with the largest allocated share, kLeastAllocated the one
///     with the smallest.
///  4. kDistributeEvenly and kMostAllocated first prefer the nodes with the fewest clients of the
///     VM itself: what was split because it is wide stays apart. kDistributeEvenly then prefers the
///     node with the smallest allocated share.
#pragma once

#include <compare>
#include <cstdint>

#include "placement/arrangement.h"

namespace vmnuma {

/// Returns the CPUs of a node that its clients take, not counting those of `except`.
[[nodiscard]] std::int64_t allocated_cpus(const Arrangement& arrangement, NodeIndex node,
                                          ClientIndex except);

/// A node's rank for a client; smaller is better.
struct StrategyRank {
  std::int64_t lacks_cpus = 0;
  std::int64_t own_clients = 0;
  std::int64_t allocated_permille = 0;  ///< negative where more is better

  auto operator<=>(const StrategyRank&) const = default;
  /// Adds another client's rank, for the rank of several clients' nodes together.
  StrategyRank& operator+=(const StrategyRank& other);
};

/// Returns the node's rank for the client, by the strategy of the client's VM.
[[nodiscard]] StrategyRank strategy_rank(const Arrangement& arrangement, ClientIndex client,
                                         NodeIndex node);

}  // namespace vmnuma
