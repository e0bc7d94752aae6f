// SPDX-License-Identifier: Apache-2.0
// Moves and swaps of clients towards their memory.
#include <algorithm>
#include <array>

#include "balancer/core/guards.h"
#include "balancer/core/search.h"
#include "balancer/core/shortlist.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kMostStrays = 64;
constexpr std::size_t kSwapPartnersTried = 8;

/// Returns by how much the client's local memory is larger on one node than at home, in thousandths
/// of what is resident.
Permille locality_gain(const Arrangement& arrangement, ClientIndex client, NodeIndex to) {
  const MemoryProfile& memory = arrangement.memory(client);
  return memory.locality(to) - memory.locality(arrangement.home(client));
}

/// Returns false while pages of it are in transit: where they lie now is no information.
bool is_settled(const Arrangement& arrangement, ClientIndex client) {
  const Snapshot& snapshot = arrangement.snapshot();
  return !snapshot.vms[snapshot.clients[client].vm].transferring;
}

/// A client with enough memory on another node to make going there worthwhile.
struct Stray {
  ClientIndex client = kNoClient;
  NodeIndex towards = kNoNode;
};

std::vector<Stray> strays(const Arrangement& arrangement, Reason reason) {
  const std::int64_t least = arrangement.options().locality_mig_threshold * 10;
  std::vector<Stray> found;
  for (ClientIndex client = 0; client < arrangement.snapshot().clients.size(); ++client) {
    const NodeIndex from = arrangement.home(client);
    const MemoryProfile& memory = arrangement.memory(client);
    if (from == kNoNode || memory.parts.empty() || !is_settled(arrangement, client) ||
        memory.locality(from).value > 1000 - least || check_client(arrangement, client, reason)) {
      continue;
    }
    for (const MemoryProfile::Part& part : memory.parts) {
      if (part.node != from && arrangement.snapshot().topology.can_be_home(part.node) &&
          locality_gain(arrangement, client, part.node).value >= least) {
        found.push_back({client, part.node});
      }
    }
  }
  return found;
}

std::optional<Guard> locality_guard(const Arrangement& arrangement,
                                    std::span<const Rehoming> changes, Reason reason,
                                    const Effect& effect) {
  if (const auto guard = check_targets(arrangement, reason, changes)) {
    return guard;
  }
  if (!effect.fits) {
    return Guard::kNoRoom;
  }
  // Locality must not be bought with CPU time that another client is then owed.
  if (effect.gain - std::max(effect.talk, CpuTime{}) < -least_gain(arrangement, changes)) {
    return Guard::kMinimumGain;
  }
  return effect.pays() ? std::nullopt : std::optional(Guard::kDoesNotPay);
}

void consider_for_locality(const Arrangement& arrangement, Reason reason,
                           std::span<const Rehoming> changes, Considered& considered) {
  const Effect effect = arrangement.effect_of(changes);
  considered.add({reason,
                  {changes.begin(), changes.end()},
                  effect,
                  effect.benefit(),
                  locality_guard(arrangement, changes, reason, effect)});
}

}  // namespace

void consider_locality_moves(const Arrangement& arrangement, Considered& considered) {
  if (arrangement.options().locality_weight_mem == 0) {
    return;
  }
  for (const Stray& stray : strays(arrangement, Reason::kLocalityMove)) {
    consider_for_locality(arrangement, Reason::kLocalityMove,
                          std::array{Rehoming{stray.client, stray.towards}}, considered);
  }
}

void consider_locality_swaps(const Arrangement& arrangement, Considered& considered) {
  const Options& options = arrangement.options();
  if (options.locality_weight_mem == 0 || options.swap_locality_enable == 0) {
    return;
  }
  std::vector<Stray> found = strays(arrangement, Reason::kLocalitySwap);
  found.resize(std::min(found.size(), kMostStrays));
  for (const auto& [client, towards] : found) {
    const NodeIndex from = arrangement.home(client);
    for (const ClientIndex partner : spread_out(
             movable_residents(arrangement, towards, Reason::kLocalitySwap), kSwapPartnersTried)) {
      const Permille together =
          locality_gain(arrangement, client, towards) + locality_gain(arrangement, partner, from);
      if (is_settled(arrangement, partner) &&
          together.value >= options.locality_mig_threshold * 10) {
        const std::array changes{Rehoming{client, towards}, Rehoming{partner, from}};
        consider_for_locality(arrangement, Reason::kLocalitySwap, changes, considered);
      }
    }
  }
}

}  // namespace vmnuma::balancer
