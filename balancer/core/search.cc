// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/search.h"

#include <algorithm>

#include "balancer/core/guards.h"

namespace vmnuma::balancer {

using placement::Arrangement;
using placement::ClientIndex;
using placement::CpuTime;
using placement::Effect;
using placement::Exchange;
using placement::Guard;
using placement::kNoClient;
using placement::kNoNode;
using placement::NodeIndex;
using placement::Options;
using placement::Permille;
using placement::Reason;
using placement::Rehoming;

namespace {

constexpr std::size_t kMostStopped = 32;
constexpr std::size_t kSourcesTried = 4;    ///< nodes whose clients are paired for swaps
constexpr std::size_t kAllPairsUpTo = 100;  ///< pairs of two nodes tried one by one
constexpr std::size_t kPartnersTried = 3;
constexpr std::size_t kChainWidth = 8;  ///< clients a node and nodes a step, in chains

CpuTime benefit_of(const Effect& effect, const Options& options) {
  return effect.gain * options.move_horizon - effect.cost;
}

/// Nodes that can be a home, most owed share first.
std::vector<NodeIndex> nodes_by_owed(const Arrangement& arrangement) {
  std::vector<NodeIndex> nodes;
  for (NodeIndex node = 0; node < arrangement.snapshot().nodes.size(); ++node) {
    if (arrangement.snapshot().topology.can_be_home(node)) {
      nodes.push_back(node);
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
    return arrangement.owed_share(a) > arrangement.owed_share(b);
  });
  return nodes;
}

/// Residents that may be moved for this reason, most demand first.
std::vector<ClientIndex> movable_residents(const Arrangement& arrangement, NodeIndex node,
                                           Reason reason) {
  std::vector<ClientIndex> clients;
  for (const ClientIndex client : arrangement.residents(node)) {
    if (!why_it_stays(arrangement, client, reason)) {
      clients.push_back(client);
    }
  }
  std::stable_sort(clients.begin(), clients.end(), [&](ClientIndex a, ClientIndex b) {
    return arrangement.load(a).demand > arrangement.load(b).demand;
  });
  return clients;
}

/// At most `count` of them, spread evenly over the order they are in.
std::vector<ClientIndex> spread_out(const std::vector<ClientIndex>& clients, std::size_t count) {
  if (clients.size() <= count) {
    return clients;
  }
  std::vector<ClientIndex> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back(clients[i * (clients.size() - 1) / (count - 1)]);
  }
  return chosen;
}

void consider_swap(const Arrangement& arrangement, ClientIndex a, ClientIndex b, Reason reason,
                   Considered& considered) {
  const Effect effect = arrangement.effect_of_swap(a, b);
  if (considered.hopeless(benefit_of(effect, arrangement.options()))) {
    return;
  }
  const NodeIndex home_a = arrangement.home(a);
  const NodeIndex home_b = arrangement.home(b);
  Candidate candidate{reason,
                      {{a, home_b}, {b, home_a}},
                      effect,
                      benefit_of(effect, arrangement.options()),
                      std::nullopt};
  candidate.stopped_by = why_not_there(arrangement, a, home_b, reason, b);
  if (!candidate.stopped_by) {
    candidate.stopped_by = why_not_there(arrangement, b, home_a, reason, a);
  }
  if (!candidate.stopped_by) {
    candidate.stopped_by = why_not_worth_it(
        arrangement, {.from = home_a,
                      .to = home_b,
                      .at_from = {.out = arrangement.load(a), .in = arrangement.load(b)},
                      .at_to = {.out = arrangement.load(b), .in = arrangement.load(a)},
                      .effect = effect,
                      .one_way = false});
  }
  considered.add(std::move(candidate));
}

Candidate judge_move(const Arrangement& arrangement, ClientIndex client, NodeIndex to,
                     Reason reason) {
  const Effect effect = arrangement.effect_of_move(client, to);
  Candidate candidate{
      reason, {{client, to}}, effect, benefit_of(effect, arrangement.options()), std::nullopt};
  candidate.stopped_by = why_not_there(arrangement, client, to, reason);
  if (!candidate.stopped_by) {
    candidate.stopped_by =
        why_not_worth_it(arrangement, {.from = arrangement.home(client),
                                       .to = to,
                                       .at_from = {.out = arrangement.load(client), .in = {}},
                                       .at_to = {.out = {}, .in = arrangement.load(client)},
                                       .effect = effect,
                                       .one_way = reason == Reason::kLoadMove});
  }
  return candidate;
}

}  // namespace

void Considered::add(Candidate candidate) {
  if (!candidate.stopped_by) {
    if (!best_ || candidate.benefit > best_->benefit) {
      best_ = std::move(candidate);
    }
    return;
  }
  const auto place = std::upper_bound(
      stopped_.begin(), stopped_.end(), candidate,
      [](const Candidate& a, const Candidate& b) { return a.benefit > b.benefit; });
  if (place - stopped_.begin() < static_cast<std::ptrdiff_t>(kMostStopped)) {
    stopped_.insert(place, std::move(candidate));
    if (stopped_.size() > kMostStopped) {
      stopped_.pop_back();
    }
  }
}

bool Considered::hopeless(CpuTime benefit) const {
  return benefit <= CpuTime{} ||
         (best_ && benefit <= best_->benefit && stopped_.size() == kMostStopped &&
          benefit <= stopped_.back().benefit);
}

void consider_load_moves(const Arrangement& arrangement, Considered& considered) {
  const Options& options = arrangement.options();
  const std::vector<NodeIndex> nodes = nodes_by_owed(arrangement);
  for (const NodeIndex from : nodes) {
    const placement::NodeLoad& source = arrangement.node(from);
    const CpuTime least = source.capacity() * options.mig_threshold / 100;
    if (source.owed() < least || source.owed() <= CpuTime{}) {
      break;  // by owed share, so no other node owes much either
    }
    for (const ClientIndex client : arrangement.residents(from)) {
      if (why_it_stays(arrangement, client, Reason::kLoadMove)) {
        continue;
      }
      const CpuTime saved =
          source.owed() - source.owed({.out = arrangement.load(client), .in = {}});
      for (const NodeIndex to : nodes) {
        if (to == from || arrangement.owed_share(to) >= arrangement.owed_share(from)) {
          continue;
        }
        // What the target will owe is the least that the move costs; most targets end here.
        const placement::NodeLoad& target = arrangement.node(to);
        const CpuTime gain =
            saved + target.owed() - target.owed({.out = {}, .in = arrangement.load(client)});
        if (gain <= CpuTime{}) {
          continue;
        }
        considered.add(judge_move(arrangement, client, to, Reason::kLoadMove));
      }
    }
  }
}

void consider_load_swaps(const Arrangement& arrangement, Considered& considered) {
  const std::vector<NodeIndex> nodes = nodes_by_owed(arrangement);
  std::vector<std::vector<ClientIndex>> movable(arrangement.snapshot().nodes.size());
  for (const NodeIndex node : nodes) {
    movable[node] = movable_residents(arrangement, node, Reason::kLoadSwap);
  }
  for (std::size_t s = 0; s < std::min(nodes.size(), kSourcesTried); ++s) {
    const NodeIndex from = nodes[s];
    if (arrangement.node(from).owed() <= CpuTime{}) {
      break;
    }
    for (const NodeIndex to : nodes) {
      if (to == from || arrangement.owed_share(to) >= arrangement.owed_share(from)) {
        continue;
      }
      const std::vector<ClientIndex>& partners = movable[to];
      // Half the difference of what the two want beyond what they can give would even them out.
      const auto excess = [&](NodeIndex node) {
        return arrangement.node(node).demand() - arrangement.node(node).capacity();
      };
      const CpuTime wanted = (excess(from) - excess(to)) / 2;
      for (const ClientIndex client : movable[from]) {
        std::size_t first = 0;
        std::size_t last = partners.size();
        if (movable[from].size() * partners.size() > kAllPairsUpTo) {
          const CpuTime partner_demand = arrangement.load(client).demand - wanted;
          const auto nearest =
              std::partition_point(partners.begin(), partners.end(), [&](ClientIndex partner) {
                return arrangement.load(partner).demand > partner_demand;
              });
          const auto at = static_cast<std::size_t>(nearest - partners.begin());
          first = at > kPartnersTried / 2 ? at - kPartnersTried / 2 : 0;
          last = std::min(first + kPartnersTried, partners.size());
        }
        for (std::size_t p = first; p < last; ++p) {
          if (arrangement.load(partners[p]).demand < arrangement.load(client).demand) {
            consider_swap(arrangement, client, partners[p], Reason::kLoadSwap, considered);
          }
        }
      }
    }
  }
}

void consider_chains(const Arrangement& arrangement, Considered& considered) {
  const Options& options = arrangement.options();
  const std::vector<NodeIndex> nodes = nodes_by_owed(arrangement);
  if (nodes.size() < 2 || arrangement.node(nodes.front()).owed() <= CpuTime{}) {
    return;
  }
  std::vector<std::vector<ClientIndex>> movable(arrangement.snapshot().nodes.size());
  for (const NodeIndex node : nodes) {
    movable[node] =
        spread_out(movable_residents(arrangement, node, Reason::kLoadMove), kChainWidth);
  }
  // The nodes with most to give are the most likely stops.
  std::vector<NodeIndex> stops(nodes.rbegin(), nodes.rend());
  stops.resize(std::min(stops.size(), kChainWidth));

  const auto consider = [&](std::vector<Rehoming> changes) {
    const Effect effect = arrangement.effect_of(changes);
    const CpuTime benefit = benefit_of(effect, options);
    if (considered.hopeless(benefit)) {
      return;
    }
    Candidate candidate{Reason::kLoadMove, changes, effect, benefit, std::nullopt};
    for (const Rehoming& change : changes) {
      if (!candidate.stopped_by) {
        candidate.stopped_by =
            why_not_there(arrangement, change.client, change.to, Reason::kLoadMove);
      }
    }
    if (!candidate.stopped_by) {
      candidate.stopped_by = why_not_worth_it(arrangement, {.from = nodes.front(),
                                                            .to = changes.back().to,
                                                            .at_from = {},
                                                            .at_to = {},
                                                            .effect = effect,
                                                            .one_way = false});
    }
    considered.add(std::move(candidate));
  };

  for (const NodeIndex from : nodes) {
    if (arrangement.node(from).owed() <= CpuTime{}) {
      break;
    }
    for (const ClientIndex first : movable[from]) {
      for (const NodeIndex middle : stops) {
        if (middle == from) {
          continue;
        }
        // Two leave one node, for the same or different ones.
        for (const ClientIndex second : movable[from]) {
          for (const NodeIndex to : stops) {
            if (to != from && second > first) {
              consider({{first, middle}, {second, to}});
            }
          }
        }
        // One makes room for the other, or both change places with a third.
        for (const ClientIndex second : movable[middle]) {
          for (const NodeIndex to : stops) {
            if (to != middle && to != from) {
              consider({{first, middle}, {second, to}});
            }
          }
        }
      }
    }
    if (from == nodes[std::min(nodes.size(), kSourcesTried) - 1]) {
      break;
    }
  }
}

namespace {

/// What a client was owed over the last epochs, in thousandths of what it was entitled to.
Permille owed_lately(const placement::ClientState& client) {
  CpuTime sum = client.owed;
  for (const CpuTime owed : client.owed_before) {
    sum += owed;
  }
  const auto epochs = static_cast<std::int64_t>(client.owed_before.size()) + 1;
  return permille_of(sum.value, (client.entitled * epochs).value, Permille{});
}

/// Predicted owed of a node's clients, each weighed by what it was owed lately.
CpuTime weighted_owed(const Arrangement& arrangement, NodeIndex node, const Exchange& exchange,
                      ClientIndex out, ClientIndex in) {
  const std::int64_t level = arrangement.node(node).level_after(exchange);
  CpuTime sum;
  const auto add = [&](ClientIndex client) {
    const CpuTime owed = placement::NodeLoad::owed_at_level(arrangement.load(client), level);
    sum += owed * owed_lately(arrangement.snapshot().clients[client]).value / 1000;
  };
  for (const ClientIndex client : arrangement.residents(node)) {
    if (client != out) {
      add(client);
    }
  }
  if (in != kNoClient) {
    add(in);
  }
  return sum;
}

}  // namespace

void consider_long_term(const Arrangement& arrangement, Considered& considered) {
  const placement::Snapshot& snapshot = arrangement.snapshot();
  const Options& options = arrangement.options();
  Permille most{};
  Permille least{1000};
  for (const placement::ClientState& client : snapshot.clients) {
    if (client.home != kNoNode && client.entitled > CpuTime{}) {
      most = std::max(most, owed_lately(client));
      least = std::min(least, owed_lately(client));
    }
  }
  if (most.value - least.value < options.lterm_mig_imbal_threshold * 10) {
    return;
  }

  std::vector<NodeIndex> nodes;
  std::vector<CpuTime> weighted(snapshot.nodes.size());
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    if (snapshot.topology.can_be_home(node)) {
      nodes.push_back(node);
      weighted[node] = weighted_owed(arrangement, node, Exchange{}, kNoClient, kNoClient);
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](NodeIndex a, NodeIndex b) { return weighted[a] > weighted[b]; });
  if (nodes.empty() || weighted[nodes.front()] <= CpuTime{}) {
    return;
  }

  const auto consider = [&](ClientIndex client, NodeIndex to, ClientIndex partner) {
    const NodeIndex from = arrangement.home(client);
    const bool swap = partner != kNoClient;
    const Reason reason = swap ? Reason::kLongTermSwap : Reason::kLongTermMove;
    Exchange at_from{.out = arrangement.load(client), .in = {}};
    Exchange at_to{.out = {}, .in = arrangement.load(client)};
    if (swap) {
      at_from.in = arrangement.load(partner);
      at_to.out = arrangement.load(partner);
    }
    const CpuTime before = weighted[from] + weighted[to];
    const CpuTime after = weighted_owed(arrangement, from, at_from, client, partner) +
                          weighted_owed(arrangement, to, at_to, partner, client);
    const CpuTime relief = before - after;
    // A turn must relieve those who waited by a tenth at least, or turns would never end.
    if (relief * 10 < before || relief <= CpuTime{}) {
      return;
    }
    const CpuTime owed_more = arrangement.node(from).owed(at_from) - arrangement.node(from).owed() +
                              arrangement.node(to).owed(at_to) - arrangement.node(to).owed();
    Candidate candidate{reason, {{client, to}}, {}, relief * options.move_horizon, std::nullopt};
    if (swap) {
      candidate.changes.push_back({partner, from});
      candidate.effect = arrangement.effect_of_swap(client, partner);
    } else {
      candidate.effect = arrangement.effect_of_move(client, to);
    }
    candidate.stopped_by = why_not_there(arrangement, client, to, reason, partner);
    if (!candidate.stopped_by && swap) {
      candidate.stopped_by = why_not_there(arrangement, partner, from, reason, client);
    }
    const CpuTime capacity =
        std::max(arrangement.node(from).capacity(), arrangement.node(to).capacity());
    if (!candidate.stopped_by && owed_more * 100 > capacity * options.mig_threshold) {
      candidate.stopped_by = Guard::kMinimumGain;
    }
    if (!candidate.stopped_by && !candidate.effect.fits) {
      candidate.stopped_by = Guard::kNoRoom;
    }
    considered.add(std::move(candidate));
  };

  for (std::size_t s = 0; s < std::min(nodes.size(), kSourcesTried); ++s) {
    const NodeIndex from = nodes[s];
    const std::vector<ClientIndex> movers =
        spread_out(movable_residents(arrangement, from, Reason::kLongTermMove), kChainWidth);
    for (const ClientIndex client : movers) {
      for (const NodeIndex to : nodes) {
        if (to != from) {
          consider(client, to, kNoClient);
        }
      }
    }
  }
  if (considered.best() || options.swap_load_enable == 0) {
    return;
  }
  for (std::size_t s = 0; s < std::min(nodes.size(), kSourcesTried); ++s) {
    const NodeIndex from = nodes[s];
    const std::vector<ClientIndex> movers =
        spread_out(movable_residents(arrangement, from, Reason::kLongTermSwap), kChainWidth);
    for (const NodeIndex to : nodes) {
      if (to == from) {
        continue;
      }
      const std::vector<ClientIndex> partners =
          spread_out(movable_residents(arrangement, to, Reason::kLongTermSwap), kChainWidth);
      for (const ClientIndex client : movers) {
        for (const ClientIndex partner : partners) {
          consider(client, to, partner);
        }
      }
    }
  }
}

void consider_group_moves(const Arrangement& arrangement, Considered& considered) {
  const placement::Snapshot& snapshot = arrangement.snapshot();
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const placement::VmPolicy& policy = snapshot.vms[snapshot.clients[client].vm].policy;
    if ((policy.affinity_group.empty() && policy.anti_affinity_group.empty()) ||
        arrangement.home(client) == kNoNode ||
        why_it_stays(arrangement, client, Reason::kAffinityMove)) {
      continue;
    }
    for (const NodeIndex to : snapshot.clients[client].allowed) {
      if (to == arrangement.home(client)) {
        continue;
      }
      Candidate candidate = judge_move(arrangement, client, to, Reason::kAffinityMove);
      if (!considered.hopeless(candidate.benefit)) {
        considered.add(std::move(candidate));
      }
    }
  }
}

namespace {

/// Local memory of a client on one node against another, in thousandths of what is resident.
Permille locality_gain(const Arrangement& arrangement, ClientIndex client, NodeIndex to) {
  const placement::MemoryProfile& memory = arrangement.memory(client);
  return memory.locality(to) - memory.locality(arrangement.home(client));
}

std::optional<Guard> why_not_for_locality(const Arrangement& arrangement, const Effect& effect,
                                          NodeIndex from, NodeIndex to) {
  if (!effect.fits) {
    return Guard::kNoRoom;
  }
  // Locality may not be bought with CPU time that somebody is then owed.
  const CpuTime capacity =
      std::max(arrangement.node(from).capacity(), arrangement.node(to).capacity());
  if (effect.gain * 100 < -(capacity * arrangement.options().mig_threshold)) {
    return Guard::kMinimumGain;
  }
  return effect.pays(arrangement.options()) ? std::nullopt : std::optional(Guard::kDoesNotPay);
}

}  // namespace

void consider_locality_moves(const Arrangement& arrangement, Considered& considered) {
  const placement::Snapshot& snapshot = arrangement.snapshot();
  const Options& options = arrangement.options();
  if (options.locality_weight_mem == 0) {
    return;
  }
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const NodeIndex from = arrangement.home(client);
    const placement::MemoryProfile& memory = arrangement.memory(client);
    if (from == kNoNode || memory.parts.empty() || snapshot.clients[client].home != from ||
        memory.locality(from).value > 1000 - options.locality_mig_threshold * 10 ||
        snapshot.vms[snapshot.clients[client].vm].transferring ||
        why_it_stays(arrangement, client, Reason::kLocalityMove)) {
      continue;
    }
    for (const placement::MemoryProfile::Part& part : memory.parts) {
      if (part.node == from || !snapshot.topology.can_be_home(part.node) ||
          locality_gain(arrangement, client, part.node).value <
              options.locality_mig_threshold * 10) {
        continue;
      }
      const Effect effect = arrangement.effect_of_move(client, part.node);
      Candidate candidate{Reason::kLocalityMove,
                          {{client, part.node}},
                          effect,
                          benefit_of(effect, options),
                          why_not_there(arrangement, client, part.node, Reason::kLocalityMove)};
      if (!candidate.stopped_by) {
        candidate.stopped_by = why_not_for_locality(arrangement, effect, from, part.node);
      }
      considered.add(std::move(candidate));
    }
  }
}

void consider_locality_swaps(const Arrangement& arrangement, Considered& considered) {
  const placement::Snapshot& snapshot = arrangement.snapshot();
  const Options& options = arrangement.options();
  if (options.locality_weight_mem == 0 || options.swap_locality_enable == 0) {
    return;
  }
  // Clients that have memory elsewhere, each with the node that holds most of it.
  struct Stray {
    ClientIndex client;
    NodeIndex towards;
  };
  std::vector<Stray> strays;
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    const NodeIndex from = arrangement.home(client);
    if (from == kNoNode || snapshot.clients[client].home != from ||
        snapshot.vms[snapshot.clients[client].vm].transferring ||
        why_it_stays(arrangement, client, Reason::kLocalitySwap)) {
      continue;
    }
    for (const placement::MemoryProfile::Part& part : arrangement.memory(client).parts) {
      if (part.node != from && snapshot.topology.can_be_home(part.node) &&
          locality_gain(arrangement, client, part.node).value >=
              options.locality_mig_threshold * 10) {
        strays.push_back({client, part.node});
      }
    }
  }
  constexpr std::size_t kMostStrays = 64;
  strays.resize(std::min(strays.size(), kMostStrays));
  for (const Stray& stray : strays) {
    const NodeIndex from = arrangement.home(stray.client);
    const std::vector<ClientIndex> partners = spread_out(
        movable_residents(arrangement, stray.towards, Reason::kLocalitySwap), kChainWidth);
    for (const ClientIndex partner : partners) {
      const Permille together = locality_gain(arrangement, stray.client, stray.towards) +
                                locality_gain(arrangement, partner, from);
      if (snapshot.vms[snapshot.clients[partner].vm].transferring ||
          together.value < options.locality_mig_threshold * 10) {
        continue;
      }
      const Effect effect = arrangement.effect_of_swap(stray.client, partner);
      Candidate candidate{
          Reason::kLocalitySwap,
          {{stray.client, stray.towards}, {partner, from}},
          effect,
          benefit_of(effect, options),
          why_not_there(arrangement, stray.client, stray.towards, Reason::kLocalitySwap, partner)};
      if (!candidate.stopped_by) {
        candidate.stopped_by =
            why_not_there(arrangement, partner, from, Reason::kLocalitySwap, stray.client);
      }
      if (!candidate.stopped_by) {
        candidate.stopped_by = why_not_for_locality(arrangement, effect, from, stray.towards);
      }
      considered.add(std::move(candidate));
    }
  }
}

std::vector<Candidate> all_moves_of(const Arrangement& arrangement, ClientIndex client) {
  std::vector<Candidate> candidates;
  const NodeIndex from = arrangement.home(client);
  const std::optional<Guard> stays = why_it_stays(arrangement, client, Reason::kLoadMove);
  for (NodeIndex to = 0; to < arrangement.snapshot().nodes.size(); ++to) {
    if (to == from || from == kNoNode || !arrangement.snapshot().topology.can_be_home(to)) {
      continue;
    }
    Candidate candidate = judge_move(arrangement, client, to, Reason::kLoadMove);
    if (stays) {
      candidate.stopped_by = stays;
    }
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.benefit > b.benefit; });
  return candidates;
}

}  // namespace vmnuma::balancer
