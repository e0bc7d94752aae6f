// SPDX-License-Identifier: Apache-2.0
/// Computes how much of their CPU time clients can get near their memory, at best.
///
/// Problem: each client's memory is on one node; time that it runs there is near, time that it runs
/// elsewhere costs extra. On which node should each client's memory be, so that the loss is least?
/// Approach: a client may run anywhere, divided over nodes, but has only one *home*. On each node,
/// clients for which far memory costs most have precedence. Homes are searched by branch and bound:
/// clients in the order of what far memory costs them, nodes with equal remaining room treated as
/// one. A branch is cut if even divisible clients would not improve it. If the search takes too
/// many steps, the answer for divisible clients is used.
///
/// Properties, each with a test:
///  - the result is never more than the least loss of any choice of homes, as found by trying all
///    of them;
///  - nothing is lost if all clients fit.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma::tools {

struct LocalClient {
  CpuTime wants;      ///< the CPU time that it gets in total
  CpuTime near_most;  ///< at most this much of it near its memory
  Permille far_cost;  ///< loss per time that it runs far from its memory, in thousandths
  bool operator==(const LocalClient&) const = default;
};

/// Returns the least that all clients together lose to far memory. `rooms` is the CPU time that
/// each node can give.
[[nodiscard]] CpuTime least_far_loss(std::vector<LocalClient> clients, std::vector<CpuTime> rooms);

}  // namespace vmnuma::tools
