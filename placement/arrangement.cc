// SPDX-License-Identifier: Apache-2.0
#include "placement/arrangement.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "placement/alignment.h"
#include "placement/base/result.h"
#include "placement/group_loss.h"
#include "placement/model/forecast.h"

namespace vmnuma {
namespace {

Load mean_load_of(const ClientState& client) {
  const CpuTime load = client.ahead ? client.ahead->mean : client.load;
  return {load, load, std::max<std::int64_t>(client.weight, 1)};
}

/// Returns by how much the nodes would recently have been less short after the changes.
CpuTime relief_lately(const Arrangement& arrangement, std::span<const Rehoming> changes) {
  CpuTime relief;
  for (const auto& [node, exchange] : arrangement.exchanges(changes)) {
    const CpuTime before = sum_of(arrangement.residents(node), [&](ClientIndex client) {
      return arrangement.snapshot().clients[client].recent;
    });
    CpuTime after = before;
    for (const auto& [client, to] : changes) {
      const CpuTime recent = arrangement.snapshot().clients[client].recent;
      after -= arrangement.home(client) == node ? recent : CpuTime{};
      after += to == node ? recent : CpuTime{};
    }
    const CpuTime capacity = arrangement.node(node).capacity();
    relief += std::max(before - capacity, CpuTime{}) - std::max(after - capacity, CpuTime{});
  }
  return relief;
}

/// Returns the memory that a client was given and has not touched yet; zero if that is not known.
/// Its guaranteed memory is subtracted from the room of its home instead.
Bytes untouched_by(const Snapshot& snapshot, const ClientState& client,
                   const MemoryProfile& memory) {
  const bool counts = client.memory_known || !snapshot.vms[client.vm].measured;
  return counts ? std::max(client.memory_size - memory.resident - memory.promised, Bytes{})
                : Bytes{};
}

}  // namespace

Load load_of(const ClientState& client, Arrangement::Basis basis) {
  const std::int64_t weight = std::max<std::int64_t>(client.weight, 1);
  if (basis == Arrangement::Basis::kLoad) {
    const CpuTime load = client.ahead ? client.ahead->p95 : client.load;
    return {load, load, weight};
  }
  return {client.demand, std::min(client.entitled, client.demand), weight};
}

std::optional<std::int64_t> most_per_node(const Snapshot& snapshot, const VmState& vm) {
  const std::int64_t most = vm.policy.max_per_node;
  if (most == 0 || vm.client_count < 2) {
    return std::nullopt;
  }
  std::int64_t largest = 1;
  std::size_t nodes = 0;
  for (const ClientState& client : clients_of(snapshot, vm)) {
    largest = std::max<std::int64_t>(largest, client.vcpu_count());
    nodes = std::max(nodes, client.allowed.size());
  }
  const auto on_each = static_cast<std::size_t>(most / largest);
  return nodes * on_each >= vm.client_count ? std::optional(most) : std::nullopt;
}

bool breaks_max_per_node(const Snapshot& snapshot, const VmState& vm) {
  return vm.policy.max_per_node > 0 && vm.client_count > 1 && !most_per_node(snapshot, vm);
}

bool something_is_forecast(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.clients,
                             [](const ClientState& client) { return client.ahead.has_value(); });
}

std::int64_t longest_horizon(const Snapshot& snapshot, const Options& options) {
  constexpr CpuTime kForecast{kForecastMinutes * 60 * 1'000'000};
  return something_is_forecast(snapshot)
             ? std::max(options.move_horizon, kForecast.value / snapshot.epoch_length.value)
             : options.move_horizon;
}

Arrangement::Arrangement(const Snapshot& snapshot, const Options& options, Basis basis)
    : snapshot_(&snapshot),
      options_(&options),
      basis_(basis),
      has_forecasts_(something_is_forecast(snapshot)),
      longest_horizon_(vmnuma::longest_horizon(snapshot, options)),
      residents_(snapshot.nodes.size()),
      room_(snapshot),
      untouched_(MemoryRoom::none(snapshot)) {
  const std::size_t clients = snapshot.clients.size();
  homes_.reserve(clients);
  loads_.reserve(clients);
  memory_.reserve(clients);
  at_first_.resize(clients);
  for (ClientIndex i = 0; i < clients; ++i) {
    const ClientState& client = snapshot.clients[i];
    homes_.push_back(client.home);
    loads_.push_back(load_of(client, basis));
    memory_.push_back(memory_profile(snapshot, client, options));
    memory_.back().demand = loads_.back().demand;
    memory_.back().horizon = longest_horizon_;
    if (client.home != kNoNode) {
      at_first_[i] =
          memory_cost(snapshot, client, memory_[i], client.home, room_.of(i, client.home), options);
      residents_[client.home].push_back(i);
      untouched_.of(i, client.home) += untouched_by(snapshot, client, memory_[i]);
    }
  }
  here_ = at_first_;
  nodes_ = nodes_with(loads_);
  lasts_.reserve(snapshot.nodes.size());
  owed_shares_.resize(snapshot.nodes.size());
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    owed_shares_[node] = owed_share_after(node, Exchange{});
    const NodeState& state = snapshot.nodes[node];
    lasts_.push_back(std::min(
        Permille{1000}, permille_of(state.short_lately.value, (state.demand - state.capacity).value,
                                    Permille{1000})));
  }
  take_other_basis();
  find_groups();
  talks_ = talks_of(snapshot, options);
}

/// Returns the nodes with the clients that live there, each with its load in `loads`.
std::vector<NodeLoad> Arrangement::nodes_with(const std::vector<Load>& loads) const {
  std::vector<NodeLoad> nodes;
  nodes.reserve(residents_.size());
  for (NodeIndex node = 0; node < residents_.size(); ++node) {
    std::vector<Load> here;
    here.reserve(residents_[node].size());
    for (const ClientIndex client : residents_[node]) {
      here.push_back(loads[client]);
    }
    nodes.emplace_back(supply_of(snapshot_->nodes[node], *options_), here);
  }
  return nodes;
}

/// Where something is forecast, prepares the loads on the other basis, on which changes are
/// evaluated as well.
void Arrangement::take_other_basis() {
  if (!has_forecasts_) {
    return;
  }
  for (const ClientState& client : snapshot_->clients) {
    other_loads_.push_back(basis_ == Basis::kDemand ? mean_load_of(client)
                                                    : load_of(client, Basis::kDemand));
  }
  other_nodes_ = nodes_with(other_loads_);
}

// ---- groups and talks ----

void Arrangement::find_groups() {
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

NodeIndex Arrangement::home_after(ClientIndex client, std::span<const Rehoming> changes) const {
  for (const Rehoming& change : changes) {
    if (change.client == client) {
      return change.to;
    }
  }
  return homes_[client];
}

/// Returns true if `other` is in `ignored` and really moves: pairs with it have been counted
/// already.
bool Arrangement::counted_before(ClientIndex other, std::span<const Rehoming> ignored) const {
  return std::ranges::any_of(ignored, [&](const Rehoming& change) {
    return change.client == other && change.to != homes_[other];
  });
}

/// Returns the lost time of the pairs that `client`, living on `at`, breaks once `changes` are
/// made, except for pairs with those clients in `ignored` that really move.
CpuTime Arrangement::broken_pairs(ClientIndex client, NodeIndex at,
                                  std::span<const Rehoming> changes,
                                  std::span<const Rehoming> ignored) const {
  CpuTime loss;
  const ClientState& self = snapshot_->clients[client];
  for (const std::size_t index : groups_of_[client]) {
    const Group& group = groups_[index];
    for (const ClientIndex member : group.members) {
      const ClientState& other = snapshot_->clients[member];
      const NodeIndex there = home_after(member, changes);
      if (other.vm == self.vm || there == kNoNode || at == kNoNode ||
          (there == at) != group.apart || counted_before(member, ignored)) {
        continue;
      }
      const std::int64_t vcpus = std::min(self.vcpu_count(), other.vcpu_count());
      loss += group.apart ? loss_of_pair_together(snapshot_->epoch_length, vcpus,
                                                  options_->anti_affinity_weight)
                          : loss_of_pair_apart(snapshot_->epoch_length, vcpus,
                                               options_->affinity_weight, group.members.size());
    }
  }
  if (at != kNoNode && has_siblings(client)) {
    const VmState& vm = snapshot_->vms[self.vm];
    const std::int64_t vcpus = vcpus_of(*snapshot_, vm);
    for (ClientIndex other = vm.first_client; other < vm.end_client(); ++other) {
      const NodeIndex there = home_after(other, changes);
      if (other != client && there != kNoNode && there != at && !counted_before(other, ignored)) {
        loss += lost_between(*snapshot_, {client, at, loads_[client].demand},
                             {other, there, loads_[other].demand}, vcpus, *options_);
      }
    }
  }
  return loss;
}

CpuTime Arrangement::far_devices(ClientIndex client, NodeIndex at) const {
  return lost_to_far_devices(*snapshot_, snapshot_->clients[client], at, *options_);
}

/// The same for clients that it talks to and does not live with.
CpuTime Arrangement::parted_talks(ClientIndex client, NodeIndex at,
                                  std::span<const Rehoming> changes,
                                  std::span<const Rehoming> ignored) const {
  CpuTime loss;
  for (const auto& [with, lost_apart] : talks_[client]) {
    const NodeIndex there = home_after(with, changes);
    if (there != at && there != kNoNode && at != kNoNode && !counted_before(with, ignored)) {
      loss += lost_apart;
    }
  }
  return loss;
}

bool Arrangement::has_sibling_on(ClientIndex client, NodeIndex node) const {
  const VmState& vm = snapshot_->vms[snapshot_->clients[client].vm];
  for (ClientIndex other = vm.first_client; other < vm.end_client(); ++other) {
    if (other != client && homes_[other] == node) {
      return is_one_memory(vm);
    }
  }
  return false;
}

bool Arrangement::talks_to(ClientIndex client, NodeIndex node) const {
  return talks(client) && std::ranges::any_of(talks_[client], [&](const Talk& talk) {
           return homes_[talk.with] == node;
         });
}

bool Arrangement::forbidden_by_group(ClientIndex client, NodeIndex node,
                                     std::span<const Rehoming> changes) const {
  const VmState& vm = snapshot_->vms[snapshot_->clients[client].vm];
  if (const std::optional<std::int64_t> most = most_per_node(*snapshot_, vm)) {
    std::int64_t vcpus = snapshot_->clients[client].vcpu_count();
    for (ClientIndex i = vm.first_client; i < vm.end_client(); ++i) {
      if (i != client && home_after(i, changes) == node) {
        vcpus += snapshot_->clients[i].vcpu_count();
      }
    }
    if (vcpus > *most) {
      return true;
    }
  }
  for (const std::size_t index : groups_of_[client]) {
    const Group& group = groups_[index];
    if (!group.apart || !group.hard) {
      continue;
    }
    for (const ClientIndex member : group.members) {
      if (snapshot_->clients[member].vm != snapshot_->clients[client].vm &&
          home_after(member, changes) == node) {
        return true;
      }
    }
  }
  return false;
}

bool Arrangement::keeps_apart(ClientIndex a, ClientIndex b) const {
  const std::size_t vm = snapshot_->clients[a].vm;
  if (vm == snapshot_->clients[b].vm) {
    return most_per_node(*snapshot_, snapshot_->vms[vm]).has_value();
  }
  return std::ranges::any_of(groups_of_[a], [&](std::size_t index) {
    const Group& group = groups_[index];
    return group.apart && group.hard && std::ranges::find(group.members, b) != group.members.end();
  });
}

// ---- lost time ----

CpuTime Arrangement::lost() const {
  CpuTime lost = sum_of(nodes_, [](const NodeLoad& node) { return node.owed(); });
  CpuTime pairs_twice;
  for (ClientIndex i = 0; i < homes_.size(); ++i) {
    lost += here_[i].standing + far_devices(i, homes_[i]);
    pairs_twice += broken_pairs(i, homes_[i], {}, {});
    if (talks(i)) {
      pairs_twice += parted_talks(i, homes_[i], {}, {});
    }
  }
  return lost + pairs_twice / 2;
}

Permille Arrangement::owed_share_after(NodeIndex node, const Exchange& exchange) const {
  const NodeLoad& load = nodes_[node];
  // If other work uses up a node entirely, its cores count instead, so that what it owes still
  // matters.
  const CpuTime capacity = load.capacity() > CpuTime{} ? load.capacity() : load.supply().cores;
  return permille_of(load.owed(exchange).value, capacity.value, Permille{});
}

Permille Arrangement::imbalance() const {
  std::vector<Permille> shares;
  for (const NodeIndex node : known_homes(*snapshot_)) {
    shares.push_back(owed_shares_[node]);
  }
  return imbalance_of(shares);
}

// ---- effects of changes ----

/// Returns the memory that leaves `node` when the client moves away from its home.
Bytes Arrangement::held_on(ClientIndex client, NodeIndex node) const {
  const MemoryProfile& memory = memory_[client];
  if (!memory.can_follow) {
    return Bytes{};
  }
  if (homes_[client] == snapshot_->clients[client].home || homes_[client] == kNoNode) {
    return memory.on(node);
  }
  return homes_[client] == node ? memory.resident : Bytes{};
}

/// Returns what the memory of changes[which] costs at its new home. Clients that leave that node
/// make room; earlier ones in `changes` that go there take some.
MemoryCost Arrangement::memory_there(std::span<const Rehoming> changes, std::size_t which,
                                     std::span<const Bytes> moved_before) const {
  const auto [client, to] = changes[which];
  if (to == kNoNode) {
    return {};
  }
  if (to == snapshot_->clients[client].home) {
    return at_first_[client];
  }
  Bytes room = room_.of(client, to);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!room_.share(client, changes[i].client)) {
      continue;
    }
    if (changes[i].to != to && changes[i].to != homes_[changes[i].client]) {
      room += held_on(changes[i].client, to);
    }
    if (changes[i].to != to && homes_[changes[i].client] == to) {
      room += memory_[changes[i].client].promised;
    }
    if (i < which && changes[i].to == to) {
      room -= moved_before[i] + memory_[changes[i].client].promised;
    }
  }
  return memory_cost(*snapshot_, snapshot_->clients[client], memory_[client], to, room, *options_);
}

Effect Arrangement::effect_of(std::span<const Rehoming> changes) const {
  VMNUMA_CHECK(changes.size() <= kMostTogether);
  Effect effect;
  std::array<Bytes, kMostTogether> moved;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto [client, to] = changes[i];
    const NodeIndex from = homes_[client];
    if (from == to) {
      continue;
    }
    if (from != kNoNode) {
      effect.cost += CpuTime{options_->move_cost_fixed};
    }
    const MemoryCost there = memory_there(changes, i, moved);
    moved[i] = there.to_move;
    effect.gain += here_[client].standing - there.standing;
    effect.gain += far_devices(client, from) - far_devices(client, to);
    effect.cost += there.travel - here_[client].travel;
    effect.to_move += there.to_move;
    effect.fits = effect.fits && there.fits;
    const std::span<const Rehoming> counted = changes.first(i);
    if (has_pairs(client)) {
      effect.gain +=
          broken_pairs(client, from, {}, counted) - broken_pairs(client, to, changes, counted);
    }
    if (talks(client)) {
      effect.talk +=
          parted_talks(client, from, {}, counted) - parted_talks(client, to, changes, counted);
    }
  }
  CpuTime lasts;
  for (const auto& [node, exchange] : exchanges(changes)) {
    const CpuTime relief = nodes_[node].owed() - nodes_[node].owed(exchange);
    effect.owed += relief;
    lasts += lasting(node, relief);
  }
  effect.gain += effect.owed + effect.talk;
  effect.gain_otherwise = effect.gain;
  if (has_forecasts_) {
    effect.gain_otherwise = gain_on_other_basis(effect, changes);
  } else if (std::ranges::any_of(changes, [this](const Rehoming& change) {
               return !groups_of_[change.client].empty();
             })) {
    effect.gain_otherwise = effect.gain - effect.owed + relief_lately(*this, changes);
  }
  const CpuTime gain_that_lasts = effect.gain - effect.owed + lasts;
  effect.in_all =
      has_forecasts_ ? in_all(effect, gain_that_lasts) : gain_that_lasts * options_->move_horizon;
  return effect;
}

std::vector<NodeExchange> Arrangement::exchanges_of(const std::vector<Load>& loads,
                                                    std::span<const Rehoming> changes) const {
  std::vector<NodeExchange> exchanges;
  exchanges.reserve(2 * changes.size());
  const auto at = [&](NodeIndex node) -> Exchange& {
    const auto found = std::ranges::find(exchanges, node, &NodeExchange::node);
    return found != exchanges.end() ? found->exchange
                                    : exchanges.emplace_back(NodeExchange{node, {}}).exchange;
  };
  for (const auto& [client, to] : changes) {
    const NodeIndex from = homes_[client];
    if (from != to && from != kNoNode) {
      at(from).out.add(loads[client]);
    }
    if (from != to && to != kNoNode) {
      at(to).in.add(loads[client]);
    }
  }
  return exchanges;
}

/// Returns the gain on the other basis, on which only owed time differs.
CpuTime Arrangement::gain_on_other_basis(const Effect& effect,
                                         std::span<const Rehoming> changes) const {
  CpuTime other = effect.gain - effect.owed;
  for (const auto& [node, exchange] : exchanges_of(other_loads_, changes)) {
    other += other_nodes_[node].owed() - other_nodes_[node].owed(exchange);
  }
  return other;
}

/// Returns the total gain of an effect over the horizon where something is forecast.
CpuTime Arrangement::in_all(const Effect& effect, CpuTime gain_that_lasts) const {
  const CpuTime other = effect.gain_otherwise;
  if (other < CpuTime{} && basis_ == Basis::kLoad) {
    return std::min(effect.gain, other) * options_->move_horizon;
  }
  const CpuTime in_both = basis_ == Basis::kLoad ? effect.gain : std::min(effect.gain, other);
  const std::int64_t epochs = in_both < CpuTime{} ? options_->move_horizon : longest_horizon_;
  return (gain_that_lasts * options_->move_horizon * (100 - options_->forecast_weight) +
          in_both * epochs * options_->forecast_weight) /
         100;
}

CpuTime Arrangement::most_saved_beside(ClientIndex client) const {
  CpuTime saved = here_[client].standing + far_devices(client, homes_[client]);
  if (has_pairs(client)) {
    saved += broken_pairs(client, homes_[client], {}, {});
  }
  if (talks(client)) {
    saved += parted_talks(client, homes_[client], {}, {});
  }
  return saved;
}

// ---- apply ----

void Arrangement::apply(std::span<const Rehoming> changes) {
  std::vector<MemoryCost> there;
  std::vector<Bytes> moved;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    there.push_back(memory_there(changes, i, moved));
    const bool stays = homes_[changes[i].client] == changes[i].to;
    moved.push_back(stays ? Bytes{} : there.back().to_move);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (homes_[changes[i].client] != changes[i].to) {
      relocate(changes[i].client, changes[i].to);
      here_[changes[i].client] = there[i];
    }
  }
}

void Arrangement::relocate(ClientIndex client, NodeIndex to) {
  const NodeIndex from = homes_[client];
  const Bytes untouched = untouched_by(*snapshot_, snapshot_->clients[client], memory_[client]);
  if (from != kNoNode) {
    if (has_forecasts_) {
      other_nodes_[from].apply({.out = {other_loads_[client]}});
    }
    nodes_[from].apply({.out = {loads_[client]}});
    owed_shares_[from] = owed_share_after(from, Exchange{});
    std::erase(residents_[from], client);
    untouched_.of(client, from) -= untouched;
    room_.of(client, from) += memory_[client].promised;
  }
  if (to != kNoNode) {
    if (has_forecasts_) {
      other_nodes_[to].apply({.in = {other_loads_[client]}});
    }
    nodes_[to].apply({.in = {loads_[client]}});
    owed_shares_[to] = owed_share_after(to, Exchange{});
    std::vector<ClientIndex>& residents = residents_[to];
    residents.insert(std::lower_bound(residents.begin(), residents.end(), client), client);
    untouched_.of(client, to) += untouched;
    room_.of(client, to) -= memory_[client].promised;
  }
  account_memory(client, from, 1);
  account_memory(client, to, -1);
  homes_[client] = to;
}

/// Returns or takes the room that the client's memory fills while it lives on `home`: as the memory
/// lies now if that is its present home or kNoNode, all of it at any other home.
void Arrangement::account_memory(ClientIndex client, NodeIndex home, std::int64_t sign) {
  const MemoryProfile& memory = memory_[client];
  if (!memory.can_follow) {
    return;
  }
  if (home == snapshot_->clients[client].home || home == kNoNode) {
    for (const MemoryProfile::Part& part : memory.parts) {
      room_.of(client, part.node) += part.bytes * sign;
    }
  } else {
    room_.of(client, home) += memory.resident * sign;
  }
}

}  // namespace vmnuma
