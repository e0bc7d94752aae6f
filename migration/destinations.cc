// SPDX-License-Identifier: Apache-2.0
#include "migration/destinations.h"

#include <algorithm>

namespace vmnuma::migration {

std::vector<Bytes> share_out(const std::vector<NodeQuota>& quotas, Bytes total) {
  // Weights of 20 bits times a total of at most 2^43 units of 4 KiB fit in 63 bits, and an error of
  // a millionth is acceptable.
  constexpr std::int64_t kLargestWeight = std::int64_t{1} << 20;
  constexpr std::int64_t kUnit = 4096;
  std::int64_t largest = 0;
  for (const NodeQuota& quota : quotas) {
    largest = std::max(largest, quota.bytes.value);
  }
  std::int64_t divisor = 1;
  while (largest / divisor > kLargestWeight) {
    divisor *= 2;
  }
  std::vector<std::int64_t> weights;
  std::int64_t sum = 0;
  for (const NodeQuota& quota : quotas) {
    weights.push_back(largest == 0 ? 1 : std::max<std::int64_t>(quota.bytes.value, 0) / divisor);
    sum += weights.back();
  }
  std::vector<Bytes> shares;
  Bytes given;
  for (const std::int64_t weight : weights) {
    shares.push_back(Bytes{total.value / kUnit * weight / std::max<std::int64_t>(sum, 1) * kUnit});
    given += shares.back();
  }
  // The rounding remainder goes to the largest share.
  const auto heaviest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  shares[static_cast<std::size_t>(heaviest)] += total - given;
  return shares;
}

Destinations::Destinations(const std::vector<NodeQuota>& quotas,
                           const std::map<NodeId, Bytes>& resident) {
  Bytes total;
  for (const auto& [node, bytes] : resident) {
    total += bytes;
  }
  const std::vector<Bytes> goals = share_out(quotas, total);
  for (std::size_t i = 0; i < quotas.size(); ++i) {
    homes_[quotas[i].node].goal = goals[i];
  }
  for (const auto& [node, bytes] : resident) {
    count_of(node) += bytes;
  }
  slack_ = total / 64;
}

const Destinations::Gate* Destinations::gate(NodeId home, Bytes pool) const {
  const auto found = gates_.find({home, pool});
  return found == gates_.end() ? nullptr : &found->second;
}

Bytes Destinations::surplus(const Home& home) const {
  return homes_.size() == 1 ? Bytes{} : home.now - home.goal - slack_;
}

Destination Destinations::choose(NodeId from, Bytes size, Bytes pool,
                                 std::optional<NodeId> neighbour) const {
  const auto here = homes_.find(from);
  const bool at_home = here != homes_.end();
  if (at_home && surplus(here->second) < size) {
    return Stay{};
  }
  if (!at_home && neighbour && homes_.contains(*neighbour) && gate(*neighbour, pool) == nullptr) {
    return GoTo{*neighbour};
  }
  std::optional<NodeId> best;
  Bytes most;
  bool blocked = false;
  std::optional<Leftover> reason;
  for (const auto& [node, home] : homes_) {
    const Bytes lacking = home.goal - home.now;
    if (node == from || (at_home && lacking < size)) {
      continue;
    }
    if (const Gate* closed = gate(node, pool)) {
      blocked = blocked || closed->door == Door::kBlocked;
      reason = reason.value_or(closed->reason);
    } else if (!best || lacking > most) {
      best = node;
      most = lacking;
    }
  }
  if (best) {
    return GoTo{*best};
  }
  if (blocked) {
    return WaitForRoom{};
  }
  if (reason) {
    return Refused{*reason};
  }
  return Stay{};
}

Bytes& Destinations::count_of(NodeId node) {
  const auto home = homes_.find(node);
  return home == homes_.end() ? elsewhere_[node] : home->second.now;
}

void Destinations::count_move(NodeId from, NodeId to, Bytes size) {
  count_of(from) -= size;
  count_of(to) += size;
}

void Destinations::count_gone(NodeId node, Bytes size) {
  count_of(node) -= size;
}

void Destinations::block(NodeId home, Bytes pool) {
  gates_.try_emplace({home, pool}, Gate{Door::kBlocked, Leftover::kNoRoom});
}

void Destinations::close(NodeId home, Bytes pool, Leftover reason) {
  gates_.insert_or_assign({home, pool}, Gate{Door::kClosed, reason});
}

void Destinations::reopen() {
  std::erase_if(gates_, [](const auto& entry) { return entry.second.door == Door::kBlocked; });
}

void Destinations::close_blocked() {
  for (auto& [key, gate] : gates_) {
    gate.door = Door::kClosed;
  }
}

Bytes Destinations::remaining() const {
  // While the guest runs, more than was known can turn up on a node, so a count may drop below
  // zero.
  Bytes sum;
  for (const auto& [node, bytes] : elsewhere_) {
    sum += std::max(bytes, Bytes{});
  }
  for (const auto& [node, home] : homes_) {
    sum += std::max(surplus(home), Bytes{});
  }
  return sum;
}

}  // namespace vmnuma::migration
