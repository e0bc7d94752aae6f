// SPDX-License-Identifier: Apache-2.0
/// What stops a move, each reason with a name.
///
/// Problem: a balancer that acts on every improvement moves VMs to and fro and costs more than it
/// saves. Approach: a candidate passes two rows of checks. The first row looks at the client and
/// the target alone
/// (`why_it_stays`, `why_not_there`): data, policy, time on the node, room. The second row
/// (`why_not_worth_it`) looks at what the change would bring. Properties: the first check that
/// fails is named; a client of a stale VM is never moved; every check can be switched off or
/// widened by its option.
#pragma once

#include <optional>

#include "placement/arrangement.h"
#include "placement/model/plan.h"

namespace vmnuma::balancer {

/// Why this client may not be moved anywhere now, or nothing.
[[nodiscard]] std::optional<placement::Guard> why_it_stays(
    const placement::Arrangement& arrangement, placement::ClientIndex client,
    placement::Reason reason);

/// Why it may not go to that node, or nothing. `leaving` is the client that makes room in a swap.
[[nodiscard]] std::optional<placement::Guard> why_not_there(
    const placement::Arrangement& arrangement, placement::ClientIndex client,
    placement::NodeIndex to, placement::Reason reason,
    placement::ClientIndex leaving = placement::kNoClient);

/// Why a load move, load swap or group move with this effect is not worth making, or nothing.
/// `from` and `to` are the nodes whose owed time it changes.
struct LoadChange {
  placement::NodeIndex from = placement::kNoNode;
  placement::NodeIndex to = placement::kNoNode;
  placement::Exchange at_from;
  placement::Exchange at_to;
  placement::Effect effect;
  bool one_way = true;
};
[[nodiscard]] std::optional<placement::Guard> why_not_worth_it(
    const placement::Arrangement& arrangement, const LoadChange& change);

}  // namespace vmnuma::balancer
