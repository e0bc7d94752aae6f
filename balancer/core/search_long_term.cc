// SPDX-License-Identifier: Apache-2.0
// Turns: moves and swaps that pass a shortage on to clients that had less of it lately.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "balancer/core/guards.h"
#include "balancer/core/long_term.h"
#include "balancer/core/search.h"
#include "balancer/core/shortlist.h"
#include "placement/capacity.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kTurnSourcesTried = 4;
constexpr std::size_t kClientsTried = 8;  ///< per node; half as many on hosts with many nodes

/// Finds out whether the memory of the client that took the last turn to or from a node was in
/// transit for so long that the next turn is not due. A round, in which each client of two nodes
/// moves once, takes Numa.LTermRestTimes times as long as the transfers do, and each turn its part
/// of that. If turns were taken as soon as the client itself had rested, they would come in
/// bunches, and a client that is alone between two bunches would get more than the others.
class Rest {
 public:
  explicit Rest(const Arrangement& arrangement) : arrangement_(&arrangement) {
    for (NodeIndex node = 0; node < arrangement.snapshot().nodes.size(); ++node) {
      CpuTime least;
      for (const ClientIndex client : arrangement.residents(node)) {
        least = std::max(least, least_demand(client));
      }
      least_demand_.push_back(least);
    }
  }

  /// True if a turn between the two nodes comes too early.
  [[nodiscard]] bool lasts(NodeIndex from, NodeIndex to) const {
    return arrangement_->node(from).demand() + arrangement_->node(to).demand() <
           std::max(least_demand_[from], least_demand_[to]);
  }

 private:
  /// Returns the demand that the clients of both nodes must have together for the client's part of
  /// the rest to be over.
  [[nodiscard]] CpuTime least_demand(ClientIndex client) const {
    constexpr CpuTime kMoreThanAnyDemand{std::numeric_limits<std::int64_t>::max()};
    const Snapshot& snapshot = arrangement_->snapshot();
    const VmState& vm = snapshot.vms[snapshot.clients[client].vm];
    const CpuTime travel = arrangement_->load(client).demand * vm.epochs_travelled *
                           arrangement_->options().lterm_rest_times;
    if (vm.transferring || (travel > CpuTime{} && vm.epochs_rested <= 0)) {
      return kMoreThanAnyDemand;
    }
    return travel > CpuTime{} ? CpuTime{(travel.value - 1) / vm.epochs_rested + 1} : CpuTime{};
  }

  const Arrangement* arrangement_;
  std::vector<CpuTime> least_demand_;  ///< by node
};

std::optional<Guard> why_no_turn(const Arrangement& arrangement, const Rest& rest, Reason reason,
                                 std::span<const Rehoming> changes, const Effect& effect) {
  if (const auto guard = check_targets(arrangement, reason, changes)) {
    return guard;
  }
  if (rest.lasts(arrangement.home(changes.front().client), changes.front().to)) {
    return Guard::kRotationCooldown;
  }
  // A turn may cost the host a little, but not more than a move has to gain.
  if (effect.gain - std::max(effect.talk, CpuTime{}) < -least_gain(arrangement, changes)) {
    return Guard::kMinimumGain;
  }
  // A turn that removes a shortage instead of passing it on has to pay, like any load move.
  if (effect.gain >= least_gain(arrangement, changes) && !effect.pays()) {
    return Guard::kDoesNotPay;
  }
  return effect.fits ? std::nullopt : std::optional(Guard::kNoRoom);
}

void consider_turn(const Arrangement& arrangement, const LongTerm& long_term, const Rest& rest,
                   std::span<const Rehoming> changes, Considered& considered) {
  const NodeIndex from = arrangement.home(changes.front().client);
  const CpuTime before = long_term.weighted(from) + long_term.weighted(changes.front().to);
  const CpuTime relief = -long_term.change(changes);
  // It must relieve the clients that waited by at least a tenth, or turns would never end.
  if (relief <= CpuTime{} || relief * 10 < before) {
    return;
  }
  const Options& options = arrangement.options();
  const Reason reason = changes.size() == 1 ? Reason::kLongTermMove : Reason::kLongTermSwap;
  Candidate candidate{reason,
                      {changes.begin(), changes.end()},
                      arrangement.effect_of(changes),
                      CpuTime{},
                      std::nullopt};
  candidate.benefit = relief * options.move_horizon - candidate.effect.cost;
  candidate.stopped_by = why_no_turn(arrangement, rest, reason, changes, candidate.effect);
  considered.add(std::move(candidate));
}

bool are_of_one_vm(const Arrangement& arrangement, ClientIndex a, ClientIndex b) {
  return arrangement.snapshot().clients[a].vm == arrangement.snapshot().clients[b].vm;
}

/// Returns true if a node's clients want more than it could give them if it had nothing else to do.
bool wants_more_than_it_has(const NodeLoad& node) {
  Supply all = node.supply();
  all.non_vm = CpuTime{};
  return node.demand() > capacity(all);
}

}  // namespace

void consider_long_term(const Arrangement& arrangement, Considered& considered) {
  const Options& options = arrangement.options();
  const LongTerm long_term(arrangement);
  if (long_term.imbalance().value < options.lterm_mig_imbal_threshold * 10) {
    return;
  }
  const Rest rest(arrangement);
  std::vector<NodeIndex> nodes = known_homes(arrangement.snapshot());
  std::ranges::stable_sort(nodes, [&](NodeIndex a, NodeIndex b) {
    return long_term.weighted(a) > long_term.weighted(b);
  });
  // Only a client that waits for another VM can be relieved by one. What the host itself takes of a
  // node stays there, and VMs that pass that shortage on would move their memory around forever.
  std::vector<NodeIndex> sources;
  for (const NodeIndex node : nodes) {
    if (sources.size() < kTurnSourcesTried && long_term.weighted(node) > CpuTime{} &&
        wants_more_than_it_has(arrangement.node(node))) {
      sources.push_back(node);
    }
  }
  const std::size_t tried = nodes.size() <= kTurnSourcesTried ? kClientsTried : kClientsTried / 2;
  const auto some_of = [&](NodeIndex node, Reason reason) {
    return spread_out(movable_residents(arrangement, node, reason), tried);
  };

  for (const NodeIndex from : sources) {
    for (const ClientIndex client : some_of(from, Reason::kLongTermMove)) {
      for (const NodeIndex to : nodes) {
        if (to != from) {
          consider_turn(arrangement, long_term, rest, std::array{Rehoming{client, to}}, considered);
        }
      }
    }
  }
  if (considered.best() || options.swap_load_enable == 0) {
    return;
  }
  std::vector<std::vector<ClientIndex>> movers(arrangement.snapshot().nodes.size());
  for (const NodeIndex node : nodes) {
    movers[node] = some_of(node, Reason::kLongTermSwap);
  }
  for (const NodeIndex from : sources) {
    for (const NodeIndex to : nodes) {
      if (to == from) {
        continue;
      }
      for (const ClientIndex client : movers[from]) {
        for (const ClientIndex partner : movers[to]) {
          if (are_of_one_vm(arrangement, client, partner)) {
            continue;  // fairness is between VMs
          }
          const std::array changes{Rehoming{client, to}, Rehoming{partner, from}};
          consider_turn(arrangement, long_term, rest, changes, considered);
        }
      }
    }
  }
}

}  // namespace vmnuma::balancer
