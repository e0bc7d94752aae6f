// SPDX-License-Identifier: Apache-2.0
#include "placement/arrangement.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "placement/result.h"

namespace vmnuma::placement {
namespace {

Supply supply_of(const NodeState& node, const Options& options) {
  return {node.physical, node.threads, node.non_vm, options.smt_gain_pct};
}

Load load_of(const ClientState& client, Arrangement::Basis basis) {
  const std::int64_t weight = std::max<std::int64_t>(client.weight, 1);
  if (basis == Arrangement::Basis::kLoad) {
    return {client.load, client.load, weight};
  }
  return {client.demand, std::min(client.entitled, client.demand), weight};
}

}  // namespace

Arrangement::Arrangement(const Snapshot& snapshot, const Options& options, Basis basis)
    : snapshot_(&snapshot),
      options_(&options),
      residents_(snapshot.nodes.size()),
      room_(room_on_nodes(snapshot)) {
  const std::size_t clients = snapshot.clients.size();
  homes_.reserve(clients);
  loads_.reserve(clients);
  memory_.reserve(clients);
  std::vector<std::vector<Load>> loads(snapshot.nodes.size());
  for (ClientIndex i = 0; i < clients; ++i) {
    const ClientState& client = snapshot.clients[i];
    homes_.push_back(client.home);
    loads_.push_back(load_of(client, basis));
    memory_.push_back(memory_profile(snapshot, client, options));
    if (client.home != kNoNode) {
      residents_[client.home].push_back(i);
      loads[client.home].push_back(loads_.back());
    }
  }
  nodes_.reserve(snapshot.nodes.size());
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    nodes_.emplace_back(supply_of(snapshot.nodes[node], options), std::move(loads[node]));
  }
  add_to_groups();
}

void Arrangement::add_to_groups() {
  groups_of_.resize(snapshot_->clients.size());
  std::map<std::pair<bool, std::string>, std::size_t> known;
  for (ClientIndex i = 0; i < snapshot_->clients.size(); ++i) {
    const VmPolicy& policy = snapshot_->vms[snapshot_->clients[i].vm].policy;
    for (const bool apart : {false, true}) {
      const std::string& name = apart ? policy.anti_affinity_group : policy.affinity_group;
      if (name.empty()) {
        continue;
      }
      const auto [entry, is_new] = known.try_emplace({apart, name}, groups_.size());
      if (is_new) {
        groups_.push_back({{}, apart, false});
      }
      Group& group = groups_[entry->second];
      group.members.push_back(i);
      group.hard = group.hard || (apart && policy.anti_affinity_hard);
      groups_of_[i].push_back(entry->second);
    }
  }
}

CpuTime Arrangement::group_loss(ClientIndex client, NodeIndex at,
                                std::span<const Rehoming> others) const {
  CpuTime loss;
  const ClientState& self = snapshot_->clients[client];
  for (const std::size_t index : groups_of_[client]) {
    const Group& group = groups_[index];
    for (const ClientIndex member : group.members) {
      const ClientState& other = snapshot_->clients[member];
      if (other.vm == self.vm) {
        continue;
      }
      NodeIndex there = homes_[member];
      for (const Rehoming& change : others) {
        if (change.client == member) {
          there = change.to;
        }
      }
      if (there == kNoNode || at == kNoNode || (there == at) != group.apart) {
        continue;
      }
      const std::int64_t weight =
          group.apart ? options_->anti_affinity_weight : options_->affinity_weight;
      loss +=
          snapshot_->epoch_length * std::min(self.vcpu_count(), other.vcpu_count()) * weight / 100;
    }
  }
  return loss;
}

bool Arrangement::forbidden_by_group(ClientIndex client, NodeIndex node,
                                     ClientIndex leaving) const {
  for (const std::size_t index : groups_of_[client]) {
    const Group& group = groups_[index];
    if (!group.apart || !group.hard) {
      continue;
    }
    for (const ClientIndex member : group.members) {
      if (member != leaving && homes_[member] == node &&
          snapshot_->clients[member].vm != snapshot_->clients[client].vm) {
        return true;
      }
    }
  }
  return false;
}

CpuTime Arrangement::lost() const {
  CpuTime lost;
  for (const NodeLoad& node : nodes_) {
    lost += node.owed();
  }
  CpuTime pairs_twice;
  for (ClientIndex i = 0; i < homes_.size(); ++i) {
    if (homes_[i] == kNoNode) {
      continue;
    }
    if (!memory_[i].parts.empty()) {
      lost += memory_cost_at(i, homes_[i], Bytes{}).standing;
    }
    if (!groups_of_[i].empty()) {
      pairs_twice += group_loss(i, homes_[i], {});
    }
  }
  return lost + pairs_twice / 2;
}

Permille Arrangement::owed_share(NodeIndex node) const {
  return owed_share_after(node, Exchange{});
}

Permille Arrangement::owed_share_after(NodeIndex node, const Exchange& exchange) const {
  const NodeLoad& load = nodes_[node];
  const CpuTime owed = exchange.in || exchange.out ? load.owed(exchange) : load.owed();
  // A node that others use up entirely is measured by its cores, so that what it owes still counts.
  const CpuTime capacity = load.capacity().value > 0 ? load.capacity() : load.supply().cores;
  return permille_of(owed.value, capacity.value, Permille{});
}

Permille Arrangement::imbalance() const {
  Permille most{};
  Permille least{};
  bool first = true;
  for (NodeIndex node = 0; node < nodes_.size(); ++node) {
    if (!snapshot_->topology.can_be_home(node)) {
      continue;
    }
    const Permille share = owed_share(node);
    most = first ? share : std::max(most, share);
    least = first ? share : std::min(least, share);
    first = false;
  }
  return most - least;
}

MemoryCost Arrangement::memory_cost_at(ClientIndex client, NodeIndex node, Bytes extra_room) const {
  return memory_cost(*snapshot_, snapshot_->clients[client], memory_[client], node,
                     room_[node] + extra_room, *options_);
}

Effect Arrangement::effect_of_move(ClientIndex client, NodeIndex to) const {
  const NodeIndex from = homes_[client];
  Effect effect;
  if (from == to) {
    return effect;
  }
  const Load& load = loads_[client];
  if (from != kNoNode) {
    const MemoryCost here = memory_cost_at(client, from, Bytes{});
    effect.gain += nodes_[from].owed() - nodes_[from].owed({.out = load, .in = {}});
    effect.gain += here.standing + group_loss(client, from, {});
    effect.cost += CpuTime{options_->move_cost_fixed} - here.travel;
  }
  if (to != kNoNode) {
    const MemoryCost there = memory_cost_at(client, to, Bytes{});
    effect.gain -= nodes_[to].owed({.out = {}, .in = load}) - nodes_[to].owed();
    effect.gain -= there.standing + group_loss(client, to, {});
    effect.cost += there.travel;
    effect.to_move = there.to_move;
    effect.fits = there.fits;
  }
  return effect;
}

Effect Arrangement::effect_of_swap(ClientIndex a, ClientIndex b) const {
  VMNUMA_CHECK(homes_[a] != kNoNode && homes_[b] != kNoNode && homes_[a] != homes_[b]);
  const Rehoming changes[] = {{a, homes_[b]}, {b, homes_[a]}};
  const NodeExchange exchanges[] = {{homes_[a], {.out = loads_[a], .in = loads_[b]}},
                                    {homes_[b], {.out = loads_[b], .in = loads_[a]}}};
  return effect_by_exchange(changes, exchanges);
}

Effect Arrangement::effect_of(std::span<const Rehoming> changes) const {
  std::vector<NodeExchange> exchanges;
  bool one_each = true;  // at most one client leaves and one comes, at every node
  const auto note = [&](NodeIndex node, std::optional<Load> Exchange::*side, const Load& load) {
    if (node == kNoNode) {
      return;
    }
    auto found = std::find_if(exchanges.begin(), exchanges.end(),
                              [node](const NodeExchange& entry) { return entry.node == node; });
    if (found == exchanges.end()) {
      exchanges.push_back({node, {}});
      found = exchanges.end() - 1;
    }
    one_each = one_each && !(found->exchange.*side).has_value();
    found->exchange.*side = load;
  };
  for (const Rehoming& change : changes) {
    note(homes_[change.client], &Exchange::out, loads_[change.client]);
    note(change.to, &Exchange::in, loads_[change.client]);
  }
  return one_each ? effect_by_exchange(changes, exchanges) : effect_step_by_step(changes);
}

Effect Arrangement::effect_by_exchange(std::span<const Rehoming> changes,
                                       std::span<const NodeExchange> exchanges) const {
  Effect effect;
  for (const NodeExchange& entry : exchanges) {
    effect.gain += nodes_[entry.node].owed() - nodes_[entry.node].owed(entry.exchange);
  }
  for (const Rehoming& change : changes) {
    const NodeIndex from = homes_[change.client];
    if (from != kNoNode) {
      const MemoryCost here = memory_cost_at(change.client, from, Bytes{});
      effect.gain += here.standing + group_loss(change.client, from, {});
      effect.cost += CpuTime{options_->move_cost_fixed} - here.travel;
    }
    if (change.to == kNoNode) {
      continue;
    }
    Bytes freed;
    for (const Rehoming& other : changes) {
      if (homes_[other.client] == change.to && other.to != change.to &&
          memory_[other.client].can_follow) {
        freed += memory_[other.client].on(change.to);
      }
    }
    const MemoryCost there = memory_cost_at(change.client, change.to, freed);
    effect.gain -= there.standing + group_loss(change.client, change.to, changes);
    effect.cost += there.travel;
    effect.to_move += there.to_move;
    effect.fits = effect.fits && there.fits;
  }
  return effect;
}

Effect Arrangement::effect_step_by_step(std::span<const Rehoming> changes) const {
  Arrangement after = *this;
  Effect effect;
  for (const Rehoming& change : changes) {
    const Effect step = after.effect_of_move(change.client, change.to);
    effect.gain += step.gain;
    effect.cost += step.cost;
    effect.to_move += step.to_move;
    effect.fits = effect.fits && step.fits;
    after.relocate(change.client, change.to);
  }
  return effect;
}

void Arrangement::relocate(ClientIndex client, NodeIndex to) {
  const NodeIndex from = homes_[client];
  if (from == to) {
    return;
  }
  if (from != kNoNode) {
    nodes_[from].apply({.out = loads_[client], .in = {}});
    std::erase(residents_[from], client);
  }
  if (to != kNoNode) {
    nodes_[to].apply({.out = {}, .in = loads_[client]});
    std::vector<ClientIndex>& residents = residents_[to];
    residents.insert(std::lower_bound(residents.begin(), residents.end(), client), client);
  }
  take_memory_along(client, from, to);
  homes_[client] = to;
}

void Arrangement::take_memory_along(ClientIndex client, NodeIndex from, NodeIndex to) {
  const MemoryProfile& memory = memory_[client];
  if (!memory.can_follow) {
    return;
  }
  // As it lies now while the client is at its present home or nowhere; all of it at any other home.
  const auto account = [&](NodeIndex home, std::int64_t sign) {
    if (home == snapshot_->clients[client].home || home == kNoNode) {
      for (const MemoryProfile::Part& part : memory.parts) {
        room_[part.node] += part.bytes * sign;
      }
    } else {
      room_[home] += memory.resident * sign;
    }
  };
  account(from, 1);
  account(to, -1);
}

void Arrangement::apply(std::span<const Rehoming> changes) {
  for (const Rehoming& change : changes) {
    relocate(change.client, change.to);
  }
}

}  // namespace vmnuma::placement
