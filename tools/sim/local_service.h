// SPDX-License-Identifier: Apache-2.0
/// How much of their CPU time clients can get beside their memory, at best.
///
/// Problem: each client's memory lies on one node; what it runs there is near, what it runs
/// elsewhere costs. Which client has its memory where, so that least is lost? Approach: a client
/// may run anywhere and in parts, only its *home* is whole. On a node those to whom far memory
/// costs most come first. Homes are searched for by branch and bound, clients in the order of what
/// far memory costs them, nodes with equal room left as one; a branch is given up where even a
/// client that could be cut into pieces would not make it better. If the search takes too many
/// steps, the answer is that of the clients in pieces.
///
/// Properties, each with a test:
///  - never more than the least that any choice of homes loses, found by trying all of them;
///  - nothing is lost if all fit.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma::tools {

struct LocalClient {
  placement::CpuTime wants;      ///< is to get so much CPU time in all
  placement::CpuTime near_most;  ///< of it beside its memory, at most
  placement::Permille far_cost;  ///< of a second far from its memory, in thousandths of it
  bool operator==(const LocalClient&) const = default;
};

/// The least that is lost to far memory by all clients together. `rooms`: what each node can give.
[[nodiscard]] placement::CpuTime least_far_loss(std::vector<LocalClient> clients,
                                                std::vector<placement::CpuTime> rooms);

}  // namespace vmnuma::tools
