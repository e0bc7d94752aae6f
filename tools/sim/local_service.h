// SPDX-License-Identifier: Apache-2.0
/// How much of their CPU time clients can get near their memory, at best.
///
/// Problem: each client's memory is on one node; time that it runs there is near, time that it runs
/// elsewhere costs. Where should each client's memory be, so that least is lost? Approach: a client
/// may run anywhere and in parts, only its *home* is whole. On a node the clients for which far
/// memory costs most come first. Homes are searched by branch and bound, clients in the order of
/// what far memory costs them, nodes with equal room left treated as one; a branch is cut if even
/// divisible clients would not improve it. If the search takes too many steps, the answer for
/// divisible clients is used.
///
/// Properties, each with a test:
///  - never more than the least that any choice of homes loses, as found by trying all of them;
///  - nothing is lost if all fit.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma::tools {

struct LocalClient {
  CpuTime wants;      ///< the CPU time it is to get in total
  CpuTime near_most;  ///< of that, at most this near its memory
  Permille far_cost;  ///< of a second far from its memory, in thousandths of it
  bool operator==(const LocalClient&) const = default;
};

/// The least that all clients together lose to far memory. `rooms`: what each node can give.
[[nodiscard]] CpuTime least_far_loss(std::vector<LocalClient> clients, std::vector<CpuTime> rooms);

}  // namespace vmnuma::tools
