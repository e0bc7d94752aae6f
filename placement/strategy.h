// SPDX-License-Identifier: Apache-2.0
/// Which of the nodes with room a VM without a home gets, if its policy has a strategy.
///
/// Problem: the node that costs the host least lost time now is not always where the administrator
/// wants a VM: he may want to keep nodes empty for large VMs still to come, or to spread by what
/// was promised instead of by what is used at the moment. Approach: a node's CPUs are *allocated*
/// by the clients that live there, whatever they use; a strategy ranks nodes by that. It comes
/// after room for the memory and after the nodes where libvirt was told to start the VM, and before
/// lost time, so that nodes it leaves equal are compared as without it. Only first homes are chosen
/// this way: afterwards a client moves when time is lost, and not because a strategy would now
/// choose otherwise.
/// Terms: *allocated* - CPUs of a node that its clients take: one for each vCPU, or the threads of
/// the cores that belong to one alone. *Has CPUs* - what is allocated and the client together are
/// no more than the node's CPUs.
/// Properties:
///  1. kLeastLostTime (and kHost, which means the same where it has not been replaced) ranks all
///     nodes equal.
///  2. With the others, while a node has CPUs, none without is chosen; those without rank equal.
///  3. kMostAllocated prefers the node of which the largest share is allocated, kLeastAllocated the
///     one of which the smallest is.
///  4. kDistributeEvenly and kMostAllocated first prefer the nodes with the fewest clients of the
///     VM itself: what was split for its width stays apart. kDistributeEvenly then prefers the node
///     of which the smallest share is allocated.
#pragma once

#include <compare>
#include <cstdint>

#include "placement/arrangement.h"

namespace vmnuma {

/// CPUs of a node that its clients take, without `except`.
[[nodiscard]] std::int64_t allocated_cpus(const Arrangement& arrangement, NodeIndex node,
                                          ClientIndex except);

/// A node's rank for a client; smaller is better.
struct StrategyRank {
  std::int64_t lacks_cpus = 0;
  std::int64_t own_clients = 0;
  std::int64_t allocated_permille = 0;  ///< negative where more is better

  auto operator<=>(const StrategyRank&) const = default;
  /// The rank of several clients' nodes together.
  StrategyRank& operator+=(const StrategyRank& other);
};

/// By the strategy of the client's VM.
[[nodiscard]] StrategyRank strategy_rank(const Arrangement& arrangement, ClientIndex client,
                                         NodeIndex node);

}  // namespace vmnuma
