// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/long_term.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace vmnuma::balancer {

namespace {

/// Returns what a VM's clients that have a home were owed lately, in thousandths of what they are
/// entitled to; nothing if they are entitled to nothing.
std::optional<Permille> owed_lately(const Arrangement& arrangement, const VmState& vm) {
  CpuTime owed;
  CpuTime entitled;
  for (ClientIndex i = vm.first_client; i < vm.end_client(); ++i) {
    const ClientState& client = arrangement.snapshot().clients[i];
    if (arrangement.home(i) == kNoNode) {
      continue;
    }
    owed += client.owed + sum_of(client.owed_before);
    entitled += client.entitled * (static_cast<std::int64_t>(client.owed_before.size()) + 1);
  }
  if (entitled <= CpuTime{}) {
    return std::nullopt;
  }
  return std::min(permille_of(owed.value, entitled.value, Permille{}), Permille{1000});
}

/// Returns what a client was owed over minutes, in thousandths of what it is entitled to.
Permille share_owed_on_average(const ClientState& client) {
  return std::min(permille_of(client.owed_on_average.value, client.entitled.value, Permille{}),
                  Permille{1000});
}

}  // namespace

LongTerm::LongTerm(const Arrangement& arrangement) : arrangement_(&arrangement) {
  on_average_.reserve(arrangement.snapshot().clients.size());
  for (const ClientState& client : arrangement.snapshot().clients) {
    on_average_.push_back(share_owed_on_average(client));
  }
  waiting_.resize(arrangement.snapshot().nodes.size());
  for (NodeIndex node = 0; node < waiting_.size(); ++node) {
    for (const ClientIndex client : arrangement.residents(node)) {
      if (on_average_[client] > Permille{}) {
        waiting_[node].push_back({arrangement.load(client), on_average_[client]});
      }
    }
    weighted_.push_back(weighted_after(node, {}, {}));
  }
}

Permille LongTerm::imbalance() const {
  std::vector<Permille> shares;
  for (const VmState& vm : arrangement_->snapshot().vms) {
    if (const auto owed = owed_lately(*arrangement_, vm)) {
      shares.push_back(*owed);
    }
  }
  return imbalance_of(shares);
}

CpuTime LongTerm::weighted_after(NodeIndex node, const Exchange& exchange,
                                 std::span<const Rehoming> changes) const {
  const Pace pace = arrangement_->node(node).pace_after(exchange);
  const auto of = [&](ClientIndex client) {
    const WeighedLoad one{arrangement_->load(client), on_average_[client]};
    return pace.owed_by_thousandths({&one, 1});
  };
  std::int64_t sum = pace.owed_by_thousandths(waiting_[node]);
  for (const Rehoming& change : changes) {
    if (arrangement_->home(change.client) == node) {
      sum -= of(change.client);
    }
    if (change.to == node) {
      sum += of(change.client);
    }
  }
  return CpuTime{sum / 1000};
}

CpuTime LongTerm::change(std::span<const Rehoming> changes) const {
  CpuTime more;
  for (const auto& [node, exchange] : arrangement_->exchanges(changes)) {
    more += weighted_after(node, exchange, changes) - weighted_[node];
  }
  return more;
}

}  // namespace vmnuma::balancer
