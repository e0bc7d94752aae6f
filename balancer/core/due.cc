// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/due.h"

#include <algorithm>
#include <vector>

namespace vmnuma::balancer {

namespace {

/// An imbalance that has lasted starts moves at this fraction of Numa.MigImbalanceThreshold: 1 /
/// kThirds.
constexpr std::int64_t kThirds = 3;

/// Returns what all clients together were owed in the epochs before this one, newest first, as many
/// as are remembered.
std::vector<CpuTime> owed_before(const Snapshot& snapshot) {
  std::vector<CpuTime> owed;
  for (const ClientState& client : snapshot.clients) {
    owed.resize(std::max(owed.size(), client.owed_before.size()));
    for (std::size_t i = 0; i < client.owed_before.size(); ++i) {
      owed[i] += client.owed_before[i];
    }
  }
  return owed;
}

/// Returns what the clients of each node were owed over minutes, with the homes of the snapshot.
std::vector<CpuTime> owed_for_minutes(const Snapshot& snapshot) {
  std::vector<CpuTime> owed(snapshot.nodes.size());
  for (const ClientState& client : snapshot.clients) {
    if (client.home != kNoNode) {
      owed[client.home] += client.owed_on_average;
    }
  }
  return owed;
}

}  // namespace

bool is_due_for_load(const Snapshot& snapshot, std::int64_t interval) {
  if (interval <= 0 || epoch_is_due(snapshot.epoch, interval)) {
    return interval > 0;
  }
  const CpuTime now = sum_of(snapshot.clients, &ClientState::owed);
  const auto is_much = [now](CpuTime owed) { return owed * 2 > now; };
  const std::vector<CpuTime> before = owed_before(snapshot);
  const auto last_due = static_cast<std::size_t>(snapshot.epoch % interval) - 1;
  return now > CpuTime{} && last_due < before.size() && !is_much(before[last_due]) &&
         std::any_of(before.begin() + static_cast<std::ptrdiff_t>(last_due) + 1, before.end(),
                     is_much);
}

bool is_imbalanced(const Arrangement& arrangement) {
  const Permille enough{arrangement.options().mig_imbalance_threshold * 10};
  const Permille now = arrangement.imbalance();
  if (now >= enough) {
    return true;
  }
  if (arrangement.options().shortage_half_life == 0 || now * kThirds < enough) {
    return false;
  }
  const Snapshot& snapshot = arrangement.snapshot();
  const std::vector<CpuTime> before = owed_for_minutes(snapshot);
  std::vector<Permille> lasting;
  for (const NodeIndex node : known_homes(snapshot)) {
    const CpuTime capacity = arrangement.node(node).capacity();
    lasting.push_back(std::min(arrangement.owed_share(node),
                               permille_of(before[node].value, capacity.value, Permille{})));
  }
  return imbalance_of(lasting) * kThirds >= enough;
}

}  // namespace vmnuma::balancer
