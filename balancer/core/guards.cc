// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/guards.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "balancer/core/long_term.h"
#include "placement/alignment.h"
#include "placement/exclusive_cores.h"

namespace vmnuma::balancer {

namespace {

/// Demand of the node's clients once the client and `changes` have moved.
CpuTime demand_after(const Arrangement& arrangement, NodeIndex node, ClientIndex client,
                     std::span<const Rehoming> changes) {
  CpuTime demand = arrangement.node(node).demand() + arrangement.load(client).demand;
  for (const Rehoming& change : changes) {
    if (change.client == client) {
      continue;
    }
    if (arrangement.home(change.client) == node) {
      demand -= arrangement.load(change.client).demand;
    }
    if (change.to == node) {
      demand += arrangement.load(change.client).demand;
    }
  }
  return demand;
}

/// Returns true if the node would be used above Numa.CoreCapRatioPct.
bool fills_cores(const Arrangement& arrangement, NodeIndex node, ClientIndex client,
                 std::span<const Rehoming> changes) {
  const std::int64_t most_pct = arrangement.options().core_cap_ratio_pct;
  const Supply& supply = arrangement.node(node).supply();
  return most_pct > 0 && demand_after(arrangement, node, client, changes) * 100 >
                             (supply.cores - supply.non_vm) * most_pct;
}

/// Returns true if the node, with the client, would have more vCPUs than CPUs, and more than one
/// and a half times as many per CPU as the host: vCPUs that are idle now may all want to run at the
/// same time later.
bool crowds_node(const Arrangement& arrangement, NodeIndex node, ClientIndex client) {
  const Snapshot& snapshot = arrangement.snapshot();
  std::int64_t vcpus = snapshot.clients[client].vcpu_count();
  for (const ClientIndex resident : arrangement.residents(node)) {
    vcpus += snapshot.clients[resident].vcpu_count();
  }
  std::int64_t all_vcpus = 0;
  CpuTime all_threads;
  for (const NodeState& state : snapshot.nodes) {
    all_vcpus += state.vcpus;
    all_threads += state.threads;
  }
  const CpuTime threads = snapshot.nodes[node].threads;
  return snapshot.epoch_length * vcpus > threads &&
         scaled(all_threads, 2 * vcpus, 3) > scaled(threads, all_vcpus, 1);
}

/// Returns the guard that keeps the client from that node, or nothing. `changes` are the rehomings
/// made together, this one included.
std::optional<Guard> check_target(const Arrangement& arrangement, ClientIndex index, NodeIndex to,
                                  Reason reason, std::span<const Rehoming> changes) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const Options& options = arrangement.options();
  if (!arrangement.snapshot().nodes[to].known) {
    return Guard::kStaleData;
  }
  if (!std::ranges::binary_search(client.allowed, to)) {
    return Guard::kNotAllowed;
  }
  if (to == client.came_from && client.epochs_here < options.no_return) {
    return Guard::kNoReturn;
  }
  if (arrangement.forbidden_by_group(index, to, changes)) {
    return Guard::kAntiAffinity;
  }
  if (client.exclusive_cores > 0 && lacks_cores(arrangement, index, to, changes)) {
    return Guard::kNoFreeCores;
  }
  if (is_for_locality(reason) && fills_cores(arrangement, to, index, changes)) {
    return Guard::kCoreCapacity;
  }
  if (reason == Reason::kAffinityMove &&
      !arrangement.snapshot().vms[client.vm].policy.affinity_group.empty() &&
      crowds_node(arrangement, to, index)) {
    return Guard::kCoreCapacity;
  }
  return std::nullopt;
}

}  // namespace

bool vm_is_moved(const Arrangement& arrangement, ClientIndex index) {
  const Snapshot& snapshot = arrangement.snapshot();
  const VmState& vm = snapshot.vms[snapshot.clients[index].vm];
  for (ClientIndex i = vm.first_client; i < vm.end_client(); ++i) {
    if (arrangement.home(i) != snapshot.clients[i].home) {
      return true;
    }
  }
  return false;
}

bool has_declared_place(const Arrangement& arrangement, ClientIndex client) {
  const Snapshot& snapshot = arrangement.snapshot();
  const VmPolicy& policy = snapshot.vms[snapshot.clients[client].vm].policy;
  return !policy.affinity_group.empty() || !policy.anti_affinity_group.empty() ||
         wants_its_devices(snapshot, snapshot.clients[client]);
}

std::optional<Guard> check_client(const Arrangement& arrangement, ClientIndex index,
                                  Reason reason) {
  const ClientState& client = arrangement.snapshot().clients[index];
  const VmState& vm = arrangement.snapshot().vms[client.vm];
  const Options& options = arrangement.options();
  if (!vm.fresh || !vm.measured ||
      (client.home != kNoNode && !arrangement.snapshot().nodes[client.home].known)) {
    return Guard::kStaleData;
  }
  if (vm.policy.do_not_move) {
    return Guard::kDoNotMove;
  }
  // A turn lasts long: the memory of a client that takes one has arrived before the next.
  if (client.moving || (is_a_turn(reason) && vm.transferring)) {
    return Guard::kMoving;
  }
  if (arrangement.home(index) != client.home || client.epochs_here < options.residency) {
    return Guard::kResidency;
  }
  if (vm_is_moved(arrangement, index)) {
    return Guard::kMoving;
  }
  if (is_a_turn(reason) && vm.epochs_rested < vm.epochs_travelled * options.lterm_rest_times) {
    return Guard::kRotationCooldown;
  }
  if (exchanges_homes(reason) && client.epochs_since_swap < options.swap_consider_period) {
    return Guard::kSwapReconsider;
  }
  return std::nullopt;
}

std::optional<Guard> check_targets(const Arrangement& arrangement, Reason reason,
                                   std::span<const Rehoming> changes) {
  for (const Rehoming& change : changes) {
    if (const auto guard = check_target(arrangement, change.client, change.to, reason, changes)) {
      return guard;
    }
  }
  return std::nullopt;
}

CpuTime least_gain_of(const Arrangement& arrangement, CpuTime capacity) {
  const std::int64_t most = arrangement.options().mig_threshold_cpus;
  const CpuTime counted =
      most == 0 ? capacity : std::min(capacity, arrangement.snapshot().epoch_length * most);
  return counted * arrangement.options().mig_threshold / 100;
}

CpuTime least_gain(const Arrangement& arrangement, std::span<const Rehoming> changes) {
  CpuTime capacity;
  for (const Rehoming& change : changes) {
    const NodeIndex from = arrangement.home(change.client);
    capacity = std::max(
        {capacity, arrangement.node(from).capacity(), arrangement.node(change.to).capacity()});
  }
  return least_gain_of(arrangement, capacity);
}

CpuTime least_gain_of_talk(const Arrangement& arrangement, ClientIndex client) {
  const Snapshot& snapshot = arrangement.snapshot();
  return snapshot.epoch_length * snapshot.clients[client].vcpu_count() *
         arrangement.options().mig_threshold / 100;
}

namespace {

/// Returns the time lost because memory that cannot follow is then farther away.
CpuTime lost_to_memory_that_stays(const Arrangement& arrangement,
                                  std::span<const Rehoming> changes) {
  const Snapshot& snapshot = arrangement.snapshot();
  CpuTime lost;
  for (const auto& [client, to] : changes) {
    const ClientState& state = snapshot.clients[client];
    if (!snapshot.vms[state.vm].memory_stays_because.empty()) {
      lost += present_loss(snapshot, state, arrangement.memory(client), to, arrangement.options()) -
              arrangement.memory_here(client).standing;
    }
  }
  return lost;
}

/// Returns the imbalance among the nodes that the changes touch, without and with them. For a
/// single move it is that between the node it leaves and the one it goes to, so that an imbalance
/// which only changes sides shows.
std::pair<Permille, Permille> imbalance_around(const Arrangement& arrangement,
                                               std::span<const Rehoming> changes) {
  if (changes.size() == 1) {
    const auto [client, to] = changes.front();
    const NodeIndex from = arrangement.home(client);
    const Load& load = arrangement.load(client);
    return {arrangement.owed_share(from) - arrangement.owed_share(to),
            arrangement.owed_share_after(to, {.in = {load}}) -
                arrangement.owed_share_after(from, {.out = {load}})};
  }
  std::vector<Permille> before;
  std::vector<Permille> after;
  for (const auto& [node, exchange] : arrangement.exchanges(changes)) {
    before.push_back(arrangement.owed_share(node));
    after.push_back(arrangement.owed_share_after(node, exchange));
  }
  return {imbalance_of(before), imbalance_of(after)};
}

/// Demand relative to what the node can give.
Permille load_of(const NodeLoad& node) {
  return permille_of(node.demand().value, node.capacity().value, Permille{1'000'000});
}

/// Returns true for a move that only talk justifies.
bool is_for_talk(const Arrangement& arrangement, const Rehoming& change, const Effect& effect,
                 CpuTime least) {
  return !(has_declared_place(arrangement, change.client) ||
           arrangement.has_siblings(change.client)) ||
         (effect.talk > CpuTime{} && effect.gain - effect.talk < least);
}

/// Returns what rules out such a move.
std::optional<Guard> talk_guard(const Arrangement& arrangement, const Rehoming& change,
                                const Effect& effect) {
  if (std::min(effect.gain, effect.talk) <
      std::max(least_gain_of_talk(arrangement, change.client), CpuTime{1})) {
    return Guard::kMinimumGain;
  }
  if (effect.owed < CpuTime{}) {
    return Guard::kOwedTime;
  }
  if (fills_cores(arrangement, change.to, change.client, {&change, 1})) {
    return Guard::kCoreCapacity;
  }
  if (load_of(arrangement.node(change.to)) >
      load_of(arrangement.node(arrangement.home(change.client)))) {
    return Guard::kBusierNode;
  }
  return effect.pays() ? std::nullopt : std::optional(Guard::kDoesNotPay);
}

}  // namespace

std::optional<Guard> effect_guard(const Arrangement& arrangement, Reason reason,
                                  std::span<const Rehoming> changes, const Effect& effect) {
  const Options& options = arrangement.options();
  if (!effect.fits) {
    return Guard::kNoRoom;
  }
  const CpuTime least = std::max(least_gain(arrangement, changes), CpuTime{1});
  if (reason == Reason::kAffinityMove && is_for_talk(arrangement, changes.front(), effect, least)) {
    return talk_guard(arrangement, changes.front(), effect);
  }
  const CpuTime without_talk = effect.gain - std::max(effect.talk, CpuTime{});
  if (without_talk < least) {
    return without_talk + lost_to_memory_that_stays(arrangement, changes) < least
               ? Guard::kMinimumGain
               : Guard::kMemoryStays;
  }
  // Members of a group belong together for long: a shortage, or spare time, in a single epoch
  // neither parts nor joins them.
  if (reason == Reason::kAffinityMove && effect.gain_otherwise < least) {
    return Guard::kDoesNotLast;
  }
  if (!effect.pays()) {
    return effect.gain * options.move_horizon > effect.cost ? Guard::kDoesNotLast
                                                            : Guard::kDoesNotPay;
  }
  if (reason == Reason::kLoadMove || reason == Reason::kForecastMove) {
    // A shortage that only changes sides returns with the next plan.
    const auto [before, after] = imbalance_around(arrangement, changes);
    if (after > Permille{} && after * 100 > before * options.mig_thrash_threshold) {
      return Guard::kResidualImbalance;
    }
  }
  if (reason != Reason::kAffinityMove && options.mig_prevent_lterm_thresh > 0 &&
      LongTerm(arrangement).change(changes) * 100 >
          capacity_of_host(arrangement.snapshot()) * options.mig_prevent_lterm_thresh) {
    return Guard::kLongTermImbalance;
  }
  return std::nullopt;
}

}  // namespace vmnuma::balancer
