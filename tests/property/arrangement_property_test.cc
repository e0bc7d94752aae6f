// SPDX-License-Identifier: Apache-2.0
/// What node_load.h, arrangement.h, reckoning.h, long_term.h and candidate.h promise: that running
/// sums, effects and upper bounds are those of the plain way.
#include <algorithm>
#include <array>

#include "balancer/core/guards.h"
#include "balancer/core/long_term.h"
#include "balancer/core/reckoning.h"
#include "balancer/core/search.h"
#include "placement/fair_share.h"
#include "tests/property/any_host.h"

namespace vmnuma::balancer {
namespace {

using tests::any_draw;
using tests::any_host;
using tests::Draw;

bool is_near(CpuTime a, CpuTime b, CpuTime tolerance) {
  return a - b <= tolerance && b - a <= tolerance;
}

// ---- one node ----

Load any_load(Draw& draw) {
  const CpuTime demand{draw.one_in(4) ? 2'000'000 : draw.up_to(16'000'000)};
  return {demand, CpuTime{draw.one_in(4) ? demand.value : draw.up_to(demand.value)},
          draw.one_in(3) ? draw.between(1, 10'000'000) : 100'000};
}

struct AnyNode {
  Supply supply;
  std::vector<Load> loads;
};

AnyNode any_node(Draw& draw) {
  AnyNode node;
  node.supply.cores = CpuTime{draw.between(1, 32) * 2'000'000};
  node.supply.threads = node.supply.cores * draw.between(1, 2);
  node.supply.non_vm = CpuTime{draw.one_in(2) ? 0 : draw.up_to(node.supply.threads.value)};
  node.supply.smt_gain_pct = draw.up_to(100);
  for (std::int64_t i = draw.up_to(30); i > 0; --i) {
    // The clients of a wide VM are alike.
    const std::int64_t alike = draw.one_in(4) ? draw.between(2, 8) : 1;
    node.loads.insert(node.loads.end(), static_cast<std::size_t>(alike), any_load(draw));
  }
  return node;
}

/// Client by client.
CpuTime owed_one_by_one(const AnyNode& node) {
  std::vector<Claim> claims;
  CpuTime demand;
  for (const Load& load : node.loads) {
    claims.push_back({load.weight, CpuTime{}, load.demand});
    demand += load.demand;
  }
  const std::vector<CpuTime> runs = fair_shares(threads_left(node.supply), claims);
  const CpuTime all_run = std::min(demand, threads_left(node.supply));
  CpuTime owed;
  for (std::size_t i = 0; i < node.loads.size(); ++i) {
    const CpuTime given =
        scaled(runs[i], service_beside_others(node.supply, demand).value, all_run.value);
    owed += std::max(node.loads[i].entitled - given, CpuTime{});
  }
  return owed;
}

CpuTime rounding(const AnyNode& node) {
  CpuTime demand;
  for (const Load& load : node.loads) {
    demand += load.demand;
  }
  return CpuTime{static_cast<std::int64_t>(node.loads.size()) * 2 + 4} + demand / (1 << 22);
}

RC_GTEST_PROP(NodeLoadProperty, OwedIsTheSumOverClientsOneByOne, ()) {
  Draw draw = any_draw();
  const AnyNode node = any_node(draw);
  RC_ASSERT(
      is_near(NodeLoad(node.supply, node.loads).owed(), owed_one_by_one(node), rounding(node)));
}

RC_GTEST_PROP(NodeLoadProperty, AnExchangeIsWhatReallyExchangingGives, ()) {
  Draw draw = any_draw();
  AnyNode node = any_node(draw);
  NodeLoad load(node.supply, node.loads);
  Exchange exchange;
  for (std::int64_t i = draw.up_to(3); i > 0 && !node.loads.empty(); --i) {
    const auto which =
        static_cast<std::ptrdiff_t>(draw.up_to(static_cast<std::int64_t>(node.loads.size()) - 1));
    exchange.out.add(node.loads[static_cast<std::size_t>(which)]);
    node.loads.erase(node.loads.begin() + which);
  }
  for (std::int64_t i = draw.up_to(3); i > 0; --i) {
    exchange.in.add(any_load(draw));
  }
  for (const Load& comer : exchange.in) {
    node.loads.push_back(comer);
  }
  const CpuTime owed = load.owed(exchange);
  const CpuTime before = load.owed();
  load.apply(exchange);
  RC_ASSERT(is_near(owed, load.owed(), rounding(node)));
  RC_ASSERT(is_near(owed, owed_one_by_one(node), rounding(node)));
  RC_ASSERT(load.demand() == NodeLoad(node.supply, node.loads).demand());
  load.apply({.out = exchange.in, .in = exchange.out});
  RC_ASSERT(load.owed() == before);
}

RC_GTEST_PROP(NodeLoadProperty, NoClientIsOwedWhereCoresServeAll, ()) {
  Draw draw = any_draw();
  AnyNode node = any_node(draw);
  const NodeLoad load(node.supply, node.loads);
  RC_ASSERT(load.demand() + node.supply.non_vm > node.supply.cores || load.owed() == CpuTime{});
}

RC_GTEST_PROP(NodeLoadProperty, AClientThatLeavesNeverHarmsThoseThatStay, ()) {
  Draw draw = any_draw();
  const AnyNode node = any_node(draw);
  if (node.loads.empty()) {
    return;
  }
  const NodeLoad load(node.supply, node.loads);
  const Load& leaver = node.loads.front();
  const CpuTime of_others = load.owed() - load.pace_after({}).owed(leaver);
  RC_ASSERT(load.owed({.out = {leaver}, .in = {}}) <= of_others + rounding(node));
}

// ---- the host ----

/// Up to three different clients to any homes.
std::vector<Rehoming> any_changes(const Snapshot& snapshot, Draw& draw) {
  std::vector<Rehoming> changes;
  for (std::int64_t i = draw.between(1, 3); i > 0; --i) {
    const auto client = static_cast<ClientIndex>(
        draw.up_to(static_cast<std::int64_t>(snapshot.clients.size()) - 1));
    if (std::none_of(changes.begin(), changes.end(),
                     [client](const Rehoming& change) { return change.client == client; })) {
      const std::vector<NodeIndex>& allowed = snapshot.clients[client].allowed;
      changes.push_back({client, allowed[static_cast<std::size_t>(
                                     draw.up_to(static_cast<std::int64_t>(allowed.size()) - 1))]});
    }
  }
  return changes;
}

RC_GTEST_PROP(ArrangementProperty, EffectsAreWhatApplyingBringsAndThePlainWaySaysSo, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  if (snapshot.clients.empty()) {
    return;
  }
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  Reckoning reckoning(snapshot, options);
  const CpuTime rounding = reckoning.rounding();
  RC_ASSERT(is_near(arrangement.lost(), reckoning.lost(), rounding));
  Draw draw(host.seed, 7);
  const std::vector<Rehoming> changes = any_changes(snapshot, draw);
  const Effect effect = arrangement.effect_of(changes);
  // Only clients that live somewhere and go elsewhere have upper bounds.
  if (std::none_of(changes.begin(), changes.end(), [&](const Rehoming& change) {
        return arrangement.home(change.client) == kNoNode ||
               arrangement.home(change.client) == change.to;
      })) {
    Promise promise(arrangement);
    const Promise::Gain most = promise.most_gain(changes);
    RC_ASSERT(most.per_epoch >= effect.gain - rounding);
    if (most.per_epoch > CpuTime{}) {
      const CpuTime over_time = rounding * arrangement.longest_horizon();
      RC_ASSERT(most.in_all >= effect.in_all - over_time);
      RC_ASSERT(most.if_it_lasts >= effect.gain * options.move_horizon - over_time);
    }
    RC_ASSERT(promise.cost_of_leaving(changes) + promise.least_cost_of_memory(changes) <=
              effect.cost);
  }
  const CpuTime before = arrangement.lost();
  arrangement.apply(changes);
  RC_ASSERT(is_near(before - arrangement.lost(), effect.gain, rounding));
  std::vector<Rehoming> real;
  for (const Rehoming& change : changes) {
    if (change.to != snapshot.clients[change.client].home) {
      real.push_back(change);
    }
  }
  reckoning.apply(real);
  RC_ASSERT(is_near(arrangement.lost(), reckoning.lost(), rounding));
  const std::vector<Permille> shares = reckoning.owed_shares();
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    RC_ASSERT(arrangement.room().ordinary(node) == reckoning.room().ordinary(node));
    const CpuTime capacity = std::max(arrangement.node(node).capacity(), CpuTime{1});
    RC_ASSERT(std::abs((arrangement.owed_share(node) - shares[node]).value) <=
              2 + rounding.value * 1000 / capacity.value);
  }
}

RC_GTEST_PROP(ArrangementProperty, WhatIsAppliedAndTakenBackNeverWas, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  if (snapshot.clients.empty()) {
    return;
  }
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kLoad);
  const Arrangement untouched = arrangement;
  Draw draw(host.seed, 8);
  const std::vector<Rehoming> changes = any_changes(snapshot, draw);
  std::vector<Rehoming> back;
  for (const Rehoming& change : changes) {
    back.push_back({change.client, arrangement.home(change.client)});
  }
  arrangement.apply(changes);
  arrangement.apply(back);
  RC_ASSERT(arrangement.lost() == untouched.lost());
  RC_ASSERT(arrangement.imbalance() == untouched.imbalance());
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    RC_ASSERT(arrangement.room().ordinary(node) == untouched.room().ordinary(node));
    RC_ASSERT(arrangement.untouched().ordinary(node) == untouched.untouched().ordinary(node));
    RC_ASSERT(arrangement.residents(node) == untouched.residents(node));
    RC_ASSERT(arrangement.node(node).owed() == untouched.node(node).owed());
  }
  // No rehoming, and one to where the client is, change nothing.
  const Rehoming stays{changes.front().client, arrangement.home(changes.front().client)};
  for (const Effect& none : {arrangement.effect_of({}), arrangement.effect_of({&stays, 1})}) {
    RC_ASSERT(none.gain == CpuTime{});
    RC_ASSERT(none.cost == CpuTime{});
    RC_ASSERT(none.to_move == Bytes{});
  }
}

RC_GTEST_PROP(ActionAffinityProperty, NoClientLosesMoreThanItsLimitAndBothOfAPairLoseTheSame, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  const Snapshot snapshot = host.snapshot();
  Options options = host.options();
  options.locality_weight_action_affinity = *rc::gen::inRange<std::int64_t>(1, 201);
  const std::vector<std::vector<Talk>> talks = talks_of(snapshot, options);
  for (ClientIndex client = 0; client < talks.size(); ++client) {
    CpuTime all;
    for (const Talk& talk : talks[client]) {
      all += talk.lost_apart;
      RC_ASSERT(snapshot.clients[talk.with].vm != snapshot.clients[client].vm);
      RC_ASSERT(std::count(talks[talk.with].begin(), talks[talk.with].end(),
                           Talk{client, talk.lost_apart}) == 1);
    }
    RC_ASSERT(all <= snapshot.epoch_length * snapshot.clients[client].vcpu_count() *
                         options.action_affinity_max / 100);
  }
}

RC_GTEST_PROP(LongTermProperty, AChangeOfWeightedOwedIsTheDifferenceExactly, ()) {
  const tests::AnyHost host = *any_host(6, 40);
  Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  Draw draw(host.seed, 9);
  for (ClientState& client : snapshot.clients) {
    client.owed_on_average = CpuTime{draw.up_to(std::max<std::int64_t>(client.demand.value, 1))};
  }
  if (snapshot.clients.empty()) {
    return;
  }
  Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  const auto all_weighted = [&] {
    const LongTerm long_term(arrangement);
    CpuTime sum;
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      sum += long_term.weighted(node);
    }
    return sum;
  };
  std::vector<Rehoming> changes = any_changes(snapshot, draw);
  std::erase_if(changes, [&](const Rehoming& change) {
    return arrangement.home(change.client) == kNoNode ||
           arrangement.home(change.client) == change.to;
  });
  const CpuTime before = all_weighted();
  const CpuTime change = LongTerm(arrangement).change(changes);
  arrangement.apply(changes);
  // The pace of a node is the same either way but for the last bits.
  RC_ASSERT(is_near(all_weighted() - before, change, Reckoning(snapshot, options).rounding()));
}

RC_GTEST_PROP(LongTermProperty, NothingIsWeighedWhereNoClientWasOwed, ()) {
  const tests::AnyHost host = *any_host(6, 40);
  const Snapshot snapshot = host.snapshot();  // with no average yet
  const Options options = host.options();
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  const LongTerm long_term(arrangement);
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    RC_ASSERT(long_term.weighted(node) == CpuTime{});
  }
}

// ---- the search ----

RC_GTEST_PROP(SearchProperty, TheBestMoveIsTheBestOfAllJudgedOneByOne, ()) {
  const tests::AnyHost host = *any_host(8, 60);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  Considered considered;
  consider_load_moves(arrangement, Reason::kLoadMove, considered);
  CpuTime best;
  for (ClientIndex client = 0; client < snapshot.clients.size(); ++client) {
    for (const Candidate& candidate : all_moves_of(arrangement, client)) {
      const NodeIndex from = arrangement.home(client);
      const NodeIndex to = candidate.changes.front().to;
      // From where something is owed to where less is; nothing else is a move for the load.
      if (!candidate.stopped_by && candidate.reason == Reason::kLoadMove &&
          arrangement.node(from).owed() > CpuTime{} &&
          arrangement.node(from).owed() >=
              arrangement.node(from).capacity() * options.mig_threshold / 100 &&
          arrangement.owed_share(to) < arrangement.owed_share(from)) {
        best = std::max(best, candidate.benefit);
      }
    }
  }
  RC_ASSERT((considered.best() ? considered.best()->benefit : CpuTime{}) == best);
}

RC_GTEST_PROP(SearchProperty, NothingThatAGuardStopsIsEverBest, ()) {
  const tests::AnyHost host = *any_host(6, 40);
  const Snapshot snapshot = host.snapshot();
  const Options options = host.options();
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  using Consider = void (*)(const Arrangement&, Considered&);
  const Consider consider_moves = [](const Arrangement& from, Considered& considered) {
    consider_load_moves(from, Reason::kLoadMove, considered);
  };
  for (const Consider consider :
       {consider_moves, Consider{consider_load_swaps}, Consider{consider_chains},
        Consider{consider_long_term}, Consider{consider_group_moves},
        Consider{consider_locality_moves}, Consider{consider_locality_swaps}}) {
    Considered considered;
    consider(arrangement, considered);
    for (const Candidate& candidate : considered.stopped()) {
      RC_ASSERT(candidate.stopped_by.has_value());
    }
    if (!considered.best()) {
      continue;
    }
    RC_ASSERT(!considered.best()->stopped_by);
    const std::vector<Rehoming>& changes = considered.best()->changes;
    for (const Rehoming& change : changes) {
      RC_ASSERT(!check_client(arrangement, change.client, considered.best()->reason));
    }
    RC_ASSERT(!check_targets(arrangement, considered.best()->reason, changes));
  }
}

}  // namespace
}  // namespace vmnuma::balancer
