// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/long_term.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace vmnuma::balancer {

using placement::Arrangement;
using placement::ClientIndex;
using placement::ClientState;
using placement::CpuTime;
using placement::kNoNode;
using placement::NodeIndex;
using placement::Permille;
using placement::Rehoming;
using placement::Snapshot;
using placement::VmState;

namespace {

/// What a VM was owed, in thousandths of what it is entitled to.
struct Shares {
  Permille lately;
  Permille on_average;  ///< over minutes
};

Shares shares_of(const Snapshot& snapshot, const VmState& vm) {
  CpuTime lately;
  CpuTime entitled_lately;
  CpuTime on_average;
  CpuTime entitled;
  for (ClientIndex i = vm.first_client; i < vm.first_client + vm.client_count; ++i) {
    const ClientState& client = snapshot.clients[i];
    lately += client.owed;
    for (const CpuTime owed : client.owed_before) {
      lately += owed;
    }
    entitled_lately += client.entitled * (static_cast<std::int64_t>(client.owed_before.size()) + 1);
    on_average += client.owed_on_average;
    entitled += client.entitled;
  }
  const auto share = [](CpuTime owed, CpuTime of) {
    return std::min(permille_of(owed.value, of.value, Permille{}), Permille{1000});
  };
  return {share(lately, entitled_lately), share(on_average, entitled)};
}

}  // namespace

LongTerm::LongTerm(const Arrangement& arrangement) : arrangement_(&arrangement) {
  const Snapshot& snapshot = arrangement.snapshot();
  lately_.resize(snapshot.clients.size());
  on_average_.resize(snapshot.clients.size());
  for (const VmState& vm : snapshot.vms) {
    const Shares shares = shares_of(snapshot, vm);
    for (ClientIndex i = vm.first_client; i < vm.first_client + vm.client_count; ++i) {
      lately_[i] = shares.lately;
      on_average_[i] = shares.on_average;
    }
  }
  waiting_.resize(arrangement.snapshot().nodes.size());
  for (NodeIndex node = 0; node < waiting_.size(); ++node) {
    for (const ClientIndex client : arrangement.residents(node)) {
      if (on_average_[client] > Permille{}) {
        waiting_[node].push_back({arrangement.load(client), on_average_[client]});
      }
    }
  }
  for (NodeIndex node = 0; node < arrangement.snapshot().nodes.size(); ++node) {
    weighted_.push_back(weighted_after(node, {}));
  }
}

Permille LongTerm::imbalance() const {
  Permille most{};
  Permille least{1000};
  for (ClientIndex client = 0; client < lately_.size(); ++client) {
    if (arrangement_->home(client) != kNoNode &&
        arrangement_->snapshot().clients[client].entitled > CpuTime{}) {
      most = std::max(most, lately_[client]);
      least = std::min(least, lately_[client]);
    }
  }
  return std::max(most - least, Permille{});
}

CpuTime LongTerm::weighted_after(NodeIndex node, std::span<const Rehoming> changes) const {
  placement::Exchange exchange;
  for (const Rehoming& change : changes) {
    if (arrangement_->home(change.client) == node) {
      exchange.out.add(arrangement_->load(change.client));
    }
    if (change.to == node) {
      exchange.in.add(arrangement_->load(change.client));
    }
  }
  const placement::Pace pace = arrangement_->node(node).pace_after(exchange);
  const auto of = [&](ClientIndex client) {
    const placement::WeighedLoad one{arrangement_->load(client), on_average_[client]};
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
  std::array<NodeIndex, 2 * Arrangement::kMostTogether> nodes{};
  std::size_t count = 0;
  for (const Rehoming& change : changes) {
    for (const NodeIndex node : {arrangement_->home(change.client), change.to}) {
      if (std::find(nodes.begin(), nodes.begin() + count, node) == nodes.begin() + count) {
        nodes[count++] = node;
      }
    }
  }
  CpuTime more;
  for (const NodeIndex node : std::span(nodes).first(count)) {
    more += weighted_after(node, changes) - weighted_[node];
  }
  return more;
}

}  // namespace vmnuma::balancer
