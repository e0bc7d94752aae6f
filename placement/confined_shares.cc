// SPDX-License-Identifier: Apache-2.0
#include "placement/confined_shares.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace vmnuma {
namespace {

constexpr std::size_t kMostPools = 64;

struct Pool {
  std::vector<std::size_t> members;  ///< indexes of claims that are not settled
  CpuTime left;                      ///< what the pool still has for its members
  std::vector<CpuTime> shares;       ///< what it would give each member; empty until computed
};

bool contains(const NodeSet& all, const NodeSet& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool overlap(const NodeSet& a, const NodeSet& b) {
  return std::ranges::any_of(a,
                             [&](NodeIndex node) { return std::ranges::binary_search(b, node); });
}

/// Returns the confinements and the unions of overlapping ones.
std::vector<NodeSet> sets_that_matter(std::span<const NodeSet> confinements) {
  std::vector<NodeSet> sets(confinements.begin(), confinements.end());
  for (std::size_t a = 1; a < sets.size(); ++a) {
    for (std::size_t b = 0; b < a && sets.size() < kMostPools; ++b) {
      if (!overlap(sets[a], sets[b])) {
        continue;
      }
      NodeSet both;
      std::set_union(sets[a].begin(), sets[a].end(), sets[b].begin(), sets[b].end(),
                     std::back_inserter(both));
      if (std::ranges::find(sets, both) == sets.end()) {
        sets.push_back(std::move(both));
      }
    }
  }
  return sets;
}

/// What these nodes could give for the demand if it were spread perfectly.
CpuTime supply_of_set(std::span<const Supply> nodes, const NodeSet& set, CpuTime demand) {
  Supply sum{{}, {}, {}, nodes.empty() ? 0 : nodes.front().smt_gain_pct};
  for (const NodeIndex node : set) {
    sum.cores += nodes[node].cores;
    sum.threads += nodes[node].threads;
    sum.non_vm += nodes[node].non_vm;
  }
  return service_beside_others(sum, demand);
}

class Shares {
 public:
  Shares(std::span<const Supply> nodes, std::span<const NodeSet> confinements,
         std::span<const ConfinedClaim> claims)
      : claims_(claims), settled_(claims.size()) {
    for (const ConfinedClaim& claim : claims) {
      shares_.push_back(std::max(claim.claim.ceiling, CpuTime{}));
    }
    for (const NodeSet& set : sets_that_matter(confinements)) {
      std::vector<bool> is_inside;  // by confinement
      for (const NodeSet& confinement : confinements) {
        is_inside.push_back(contains(set, confinement));
      }
      Pool pool;
      CpuTime demand;
      for (std::size_t i = 0; i < claims.size(); ++i) {
        if (is_inside[claims[i].confinement]) {
          pool.members.push_back(i);
          demand += claims[i].demand;
        }
      }
      pool.left = supply_of_set(nodes, set, demand);
      pools_.push_back(std::move(pool));
    }
  }

  std::vector<CpuTime> find() {
    while (const std::optional<std::size_t> lowest = lowest_that_is_short()) {
      settle(*lowest);
    }
    return std::move(shares_);
  }

 private:
  /// Returns the index of the pool to settle next. Drops pools that have enough for all their
  /// members, because that does not change.
  std::optional<std::size_t> lowest_that_is_short() {
    std::erase_if(pools_, [&](const Pool& pool) {
      const CpuTime wanted = sum_of(pool.members, [&](std::size_t i) { return shares_[i]; });
      return wanted <= std::max(pool.left, CpuTime{});  // rounding can make it negative
    });
    std::optional<std::size_t> lowest;
    std::optional<std::size_t> of_lowest;  // its member with the lowest share
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      Pool& pool = pools_[p];
      if (pool.shares.empty()) {
        std::vector<Claim> claims;
        for (const std::size_t i : pool.members) {
          claims.push_back(claims_[i].claim);
        }
        pool.shares = fair_shares(pool.left, claims);
      }
      const std::size_t member = lowest_member(pool);
      if (!lowest || is_below(pool, member, pools_[*lowest], *of_lowest)) {
        lowest = p;
        of_lowest = member;
      }
    }
    return lowest;
  }

  /// Returns the member with the lowest share by weight, of those below their ceilings. A short
  /// pool always has one.
  [[nodiscard]] std::size_t lowest_member(const Pool& pool) const {
    std::size_t lowest = pool.members.size();
    for (std::size_t m = 0; m < pool.members.size(); ++m) {
      const bool is_open = pool.shares[m] < claims_[pool.members[m]].claim.ceiling;
      if (is_open && (lowest == pool.members.size() || is_below(pool, m, pool, lowest))) {
        lowest = m;
      }
    }
    return lowest;
  }

  [[nodiscard]] bool is_below(const Pool& a, std::size_t of_a, const Pool& b,
                              std::size_t of_b) const {
    // Rounding by 1 us matters by weight if the weight is small.
    return (a.shares[of_a].value + 1) * claims_[b.members[of_b]].claim.weight <
           (b.shares[of_b].value + 1) * claims_[a.members[of_a]].claim.weight;
  }

  void settle(std::size_t index) {
    const Pool pool = std::move(pools_[index]);
    pools_.erase(pools_.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::size_t m = 0; m < pool.members.size(); ++m) {
      shares_[pool.members[m]] = pool.shares[m];
      settled_[pool.members[m]] = true;
    }
    for (Pool& other : pools_) {
      const std::size_t before = other.members.size();
      std::erase_if(other.members, [&](std::size_t i) {
        other.left -= settled_[i] ? shares_[i] : CpuTime{};
        return settled_[i];
      });
      if (other.members.size() != before) {
        other.shares.clear();
      }
    }
  }

  std::span<const ConfinedClaim> claims_;
  std::vector<CpuTime> shares_;  ///< per claim; its ceiling until it is settled
  std::vector<bool> settled_;
  std::vector<Pool> pools_;  ///< those that may be short
};

/// Returns the claims with their floors cut, in proportion, to what the confinements can give
/// together.
std::vector<ConfinedClaim> with_floors_that_fit(std::span<const Supply> nodes,
                                                std::span<const NodeSet> confinements,
                                                std::span<const ConfinedClaim> claims) {
  std::vector<ConfinedClaim> promised(claims.begin(), claims.end());
  for (ConfinedClaim& entry : promised) {
    const CpuTime floor = std::max(std::min(entry.claim.floor, entry.claim.ceiling), CpuTime{});
    // In ms, so that products of weights and times stay small.
    entry.claim = {std::max<std::int64_t>(floor.value / 1000, 1), CpuTime{}, floor};
  }
  const std::vector<CpuTime> floors = Shares(nodes, confinements, promised).find();
  std::vector<ConfinedClaim> fitting(claims.begin(), claims.end());
  for (std::size_t i = 0; i < fitting.size(); ++i) {
    fitting[i].claim.floor = floors[i];
  }
  return fitting;
}

}  // namespace

std::vector<CpuTime> confined_shares(std::span<const Supply> nodes,
                                     std::span<const NodeSet> confinements,
                                     std::span<const ConfinedClaim> claims) {
  // fair_shares() cuts floors that do not fit into one pool. With several pools, a wide one would
  // keep floors that a narrow one within it cannot provide.
  const bool has_floor = std::ranges::any_of(
      claims, [](const ConfinedClaim& entry) { return entry.claim.floor > CpuTime{}; });
  if (confinements.size() == 1 || !has_floor) {
    return Shares(nodes, confinements, claims).find();
  }
  return Shares(nodes, confinements, with_floors_that_fit(nodes, confinements, claims)).find();
}

}  // namespace vmnuma
