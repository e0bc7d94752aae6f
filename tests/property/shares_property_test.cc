// SPDX-License-Identifier: Apache-2.0
/// What capacity.h, fair_share.h, confined_shares.h and entitlement.h promise.
#include <algorithm>

#include "balancer/core/entitlement.h"
#include "placement/capacity.h"
#include "placement/confined_shares.h"
#include "placement/fair_share.h"
#include "tests/property/any_host.h"

namespace vmnuma {
namespace {

using tests::any_draw;
using tests::Draw;

/// From any seed; nothing about it is worth shrinking.
Supply any_supply(Draw& draw) {
  const CpuTime cores{draw.between(0, 64'000'000)};
  return {cores, cores * draw.between(1, 2), CpuTime{draw.one_in(3) ? draw.up_to(40'000'000) : 0},
          draw.up_to(100)};
}

RC_GTEST_PROP(CapacityProperty, NeverMoreThanWantedNorThanCoresAndTheGainOfThreads, ()) {
  Draw draw = any_draw();
  const Supply supply = any_supply(draw);
  const CpuTime demand{draw.up_to(150'000'000)};
  const CpuTime given = service(supply, demand);
  RC_ASSERT(given <= demand);
  RC_ASSERT(given <= supply.cores + (supply.threads - supply.cores) * supply.smt_gain_pct / 100 +
                         CpuTime{1});
  RC_ASSERT(given >= std::min(demand, supply.cores));
  RC_ASSERT(service_beside_others(supply, demand) <= given);
  RC_ASSERT(capacity(supply) >= service_beside_others(supply, demand) - CpuTime{1});
}

RC_GTEST_PROP(CapacityProperty, GrowsWithTheDemandAndShrinksWithWhatOthersTake, ()) {
  Draw draw = any_draw();
  Supply supply = any_supply(draw);
  const CpuTime demand{draw.up_to(150'000'000)};
  const CpuTime more = demand + CpuTime{draw.up_to(1'000'000)};
  RC_ASSERT(service(supply, more) >= service(supply, demand));
  // Rounding of a share of the busy time can cost a microsecond.
  RC_ASSERT(service_beside_others(supply, more) >=
            service_beside_others(supply, demand) - CpuTime{1});
  const CpuTime before = service_beside_others(supply, demand);
  supply.non_vm += CpuTime{draw.up_to(1'000'000)};
  RC_ASSERT(service_beside_others(supply, demand) <= before + CpuTime{1});
}

RC_GTEST_PROP(CapacityProperty, ThreadsThatAreCoresCountInFull, ()) {
  Draw draw = any_draw();
  Supply supply = any_supply(draw);
  const CpuTime demand{draw.up_to(150'000'000)};
  supply.smt_gain_pct = 100;
  RC_ASSERT(service(supply, demand) == std::min(demand, supply.threads));
  supply.smt_gain_pct = draw.up_to(100);
  supply.threads = supply.cores;
  RC_ASSERT(service(supply, demand) == std::min(demand, supply.threads));
}

std::vector<Claim> any_claims(Draw& draw, std::int64_t most) {
  std::vector<Claim> claims;
  for (std::int64_t i = draw.up_to(most); i > 0; --i) {
    claims.push_back({draw.one_in(3) ? draw.between(1, 10'000'000) : 100,
                      CpuTime{draw.one_in(3) ? draw.up_to(8'000'000) : 0},
                      CpuTime{draw.up_to(16'000'000)}});
  }
  return claims;
}

CpuTime floor_of(const Claim& claim) {
  return std::min(claim.floor, claim.ceiling);
}

RC_GTEST_PROP(FairShareProperty, AddsUpAndKeepsFloorsAndCeilings, ()) {
  Draw draw = any_draw();
  const std::vector<Claim> claims = any_claims(draw, 60);
  const CpuTime supply{draw.up_to(200'000'000)};
  const std::vector<CpuTime> shares = fair_shares(supply, claims);
  CpuTime sum;
  CpuTime ceilings;
  CpuTime floors;
  for (const Claim& claim : claims) {
    ceilings += claim.ceiling;
    floors += floor_of(claim);
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    sum += shares[i];
    RC_ASSERT(shares[i] >= CpuTime{});
    RC_ASSERT(shares[i] <= claims[i].ceiling);
    RC_ASSERT(floors > supply || shares[i] >= floor_of(claims[i]));
    // Floors that do not fit are cut in proportion.
    RC_ASSERT(floors <= supply ||
              shares[i] - scaled(floor_of(claims[i]), supply.value, floors.value) <= CpuTime{1});
  }
  RC_ASSERT(sum == std::min(supply, ceilings));
}

RC_GTEST_PROP(FairShareProperty, ClaimsThatHitNoBoundShareByWeight, ()) {
  Draw draw = any_draw();
  const std::vector<Claim> claims = any_claims(draw, 30);
  const std::vector<CpuTime> shares = fair_shares(CpuTime{draw.up_to(100'000'000)}, claims);
  const auto is_free = [&](std::size_t i) {
    return shares[i] > floor_of(claims[i]) + CpuTime{1} &&
           shares[i] < claims[i].ceiling - CpuTime{1};
  };
  for (std::size_t a = 0; a < claims.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (is_free(a) && is_free(b)) {
        // share a / weight a = share b / weight b, each within a microsecond.
        const std::int64_t difference =
            shares[a].value * claims[b].weight - shares[b].value * claims[a].weight;
        RC_ASSERT(std::abs(difference) <= claims[a].weight + claims[b].weight);
      }
    }
  }
}

/// Nodes without SMT, so that what a set of them has is the sum.
struct Confined {
  std::vector<Supply> nodes;
  std::vector<NodeSet> confinements;
  std::vector<ConfinedClaim> claims;
};

Confined any_confined(Draw& draw) {
  Confined host;
  for (std::int64_t node = draw.between(1, 4); node > 0; --node) {
    const CpuTime cores{draw.up_to(20'000'000)};
    host.nodes.push_back({cores, cores, CpuTime{}, 25});
  }
  // Every set of nodes is a confinement, by the bits of its index.
  for (std::size_t bits = 0; bits < std::size_t{1} << host.nodes.size(); ++bits) {
    NodeSet set;
    for (NodeIndex node = 0; node < host.nodes.size(); ++node) {
      if ((bits >> node & 1) != 0) {
        set.push_back(node);
      }
    }
    host.confinements.push_back(std::move(set));
  }
  for (const Claim& claim : any_claims(draw, 12)) {
    const auto last = static_cast<std::int64_t>(host.confinements.size()) - 1;
    host.claims.push_back({claim, claim.ceiling, static_cast<std::size_t>(draw.up_to(last))});
  }
  return host;
}

/// Whether the claim can use no nodes but these.
bool is_inside(const Confined& host, std::size_t claim, std::size_t set) {
  return (host.claims[claim].confinement & ~set) == 0;
}

CpuTime supply_of(const Confined& host, std::size_t set) {
  CpuTime supply;
  for (const NodeIndex node : host.confinements[set]) {
    supply += host.nodes[node].cores;
  }
  return supply;
}

RC_GTEST_PROP(ConfinedSharesProperty, NoSetOfNodesGivesMoreThanItHas, ()) {
  Draw draw = any_draw();
  const Confined host = any_confined(draw);
  const std::vector<CpuTime> shares = confined_shares(host.nodes, host.confinements, host.claims);
  for (std::size_t set = 0; set < host.confinements.size(); ++set) {
    CpuTime sum;
    for (std::size_t i = 0; i < host.claims.size(); ++i) {
      RC_ASSERT(shares[i] >= CpuTime{} && shares[i] <= host.claims[i].claim.ceiling);
      sum += is_inside(host, i, set) ? shares[i] : CpuTime{};
    }
    const CpuTime rounding{static_cast<std::int64_t>(host.claims.size())};
    RC_ASSERT(sum <= supply_of(host, set) + rounding);
  }
}

RC_GTEST_PROP(ConfinedSharesProperty, NoClaimIsShortWhileAnotherHasMoreOfTheSameNodes, ()) {
  Draw draw = any_draw();
  const Confined host = any_confined(draw);
  const std::vector<CpuTime> shares = confined_shares(host.nodes, host.confinements, host.claims);
  for (std::size_t i = 0; i < host.claims.size(); ++i) {
    if (shares[i] >= host.claims[i].claim.ceiling) {
      continue;
    }
    bool is_fair = false;  // it is in a set that has nothing left, and no claim there has more
    for (std::size_t set = 0; set < host.confinements.size() && !is_fair; ++set) {
      if (!is_inside(host, i, set)) {
        continue;
      }
      CpuTime sum;
      bool others_have_more = false;
      for (std::size_t j = 0; j < host.claims.size(); ++j) {
        if (!is_inside(host, j, set)) {
          continue;
        }
        sum += shares[j];
        const Claim& mine = host.claims[i].claim;
        const Claim& other = host.claims[j].claim;
        others_have_more =
            others_have_more || (shares[j] > floor_of(other) + CpuTime{1} &&
                                 shares[j].value * mine.weight - shares[i].value * other.weight >
                                     2 * (mine.weight + other.weight));
      }
      const CpuTime rounding{static_cast<std::int64_t>(host.claims.size())};
      is_fair = sum + rounding >= supply_of(host, set) && !others_have_more;
    }
    RC_ASSERT(is_fair);
  }
}

RC_GTEST_PROP(FairShareProperty, MoreSupplyMakesNoShareSmaller, ()) {
  Draw draw = any_draw();
  std::vector<Claim> claims = any_claims(draw, 30);
  for (Claim& claim : claims) {
    claim.floor = CpuTime{};
  }
  const CpuTime supply{draw.up_to(100'000'000)};
  const std::vector<CpuTime> before = fair_shares(supply, claims);
  const std::vector<CpuTime> after = fair_shares(supply + CpuTime{draw.up_to(1'000'000)}, claims);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    RC_ASSERT(after[i] >= before[i] - CpuTime{1});
  }
}

RC_GTEST_PROP(EntitlementProperty, OwedIsWhatWasEntitledAndNotGot, ()) {
  const tests::AnyHost host = *tests::any_host(16, 100);
  const Snapshot snapshot = host.snapshot();
  CpuTime entitled;
  CpuTime demand;
  for (const ClientState& client : snapshot.clients) {
    RC_ASSERT(client.entitled <= client.demand);
    RC_ASSERT(client.entitled >= CpuTime{});
    RC_ASSERT(client.effective_used <= client.used);
    RC_ASSERT(client.owed == (client.home == kNoNode
                                  ? CpuTime{}
                                  : std::max(client.entitled - client.effective_used, CpuTime{})));
    entitled += client.entitled;
    demand += client.demand;
  }
  // No client can be given what the host does not have; CPUs of nodes that are no home help clients
  // that spill.
  Supply host_supply{{}, {}, {}, host.options().smt_gain_pct};
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    if (snapshot.topology.can_be_home(node) || host.options().spill_enable != 0) {
      host_supply.cores += snapshot.nodes[node].physical;
      host_supply.threads += snapshot.nodes[node].threads;
      host_supply.non_vm += snapshot.nodes[node].non_vm;
    }
  }
  RC_ASSERT(entitled <= service_beside_others(host_supply, demand));
}

RC_GTEST_PROP(EntitlementProperty, DoesNotDependOnWhereClientsLive, ()) {
  const tests::AnyHost host = *tests::any_host(8, 40);
  Snapshot snapshot = host.snapshot();
  const Snapshot before = snapshot;
  for (ClientState& client : snapshot.clients) {
    client.home = client.allowed.front();
  }
  balancer::share_out(snapshot, host.options());
  for (ClientIndex i = 0; i < snapshot.clients.size(); ++i) {
    RC_ASSERT(snapshot.clients[i].entitled == before.clients[i].entitled);
  }
}

RC_GTEST_PROP(EntitlementProperty, AFullReservationIsWorthBeingAlone, ()) {
  const tests::AnyHost host = *tests::plain_host(4, 20);
  Snapshot snapshot = host.snapshot();
  if (snapshot.vms.empty()) {
    return;
  }
  VmState& promised = snapshot.vms.front();
  promised.policy.reservation_permille = 1000;
  promised.weight = 1;
  balancer::share_out(snapshot, host.options());
  Snapshot alone = snapshot;
  for (ClientState& client : alone.clients) {
    if (client.vm != 0) {
      client.demand = client.used = CpuTime{};
    }
  }
  for (VmState& vm : alone.vms) {
    vm.demand = &vm == alone.vms.data() ? vm.demand : CpuTime{};
  }
  balancer::share_out(alone, host.options());
  RC_ASSERT(promised.entitled >= alone.vms.front().entitled);
}

}  // namespace
}  // namespace vmnuma
