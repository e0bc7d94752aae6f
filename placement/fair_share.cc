// SPDX-License-Identifier: Apache-2.0
#include "placement/fair_share.h"

#include <algorithm>

namespace vmnuma {
namespace {

/// A level as a fraction: `weight` units of weight get `amount`. Products of times and weights
/// exceed 64 bits: floors that are weights of themselves (confined_shares.cc), in epochs of a
/// minute on thousands of CPUs.
struct Level {
  std::int64_t amount = 0;
  std::int64_t weight = 1;
};

bool below(const Level& a, const Level& b) {
  return WideInt{a.amount} * b.weight < WideInt{b.amount} * a.weight;
}

/// An end of a linear piece: from this level on the total grows faster or slower.
struct Bend {
  Level level;
  std::int64_t slope_change = 0;
};

CpuTime floor_of(const Claim& claim) {
  return std::clamp(claim.floor, CpuTime{}, std::max(claim.ceiling, CpuTime{}));
}

/// Returns the level at which the claims together take exactly `supply`. The floors must fit into
/// it, and the ceilings must exceed it.
Level find_level(std::int64_t supply, std::span<const Claim> claims) {
  std::vector<Bend> bends;
  bends.reserve(claims.size() * 2);
  std::int64_t total = 0;
  for (const Claim& claim : claims) {
    const CpuTime floor = floor_of(claim);
    total += floor.value;
    if (claim.ceiling > floor) {
      bends.push_back({{floor.value, claim.weight}, claim.weight});
      bends.push_back({{claim.ceiling.value, claim.weight}, -claim.weight});
    }
  }
  std::ranges::sort(bends, [](const Bend& a, const Bend& b) { return below(a.level, b.level); });

  // total(level) = base + slope x level, where base and slope change at every bend.
  std::int64_t slope = 0;
  std::int64_t base = total;
  for (const Bend& bend : bends) {
    if (slope > 0 && WideInt{base} * bend.level.weight + WideInt{slope} * bend.level.amount >
                         WideInt{supply} * bend.level.weight) {
      break;
    }
    // A claim that starts to grow takes its floor out of the base; one that stops adds its ceiling.
    base += bend.slope_change > 0 ? -bend.level.amount : bend.level.amount;
    slope += bend.slope_change;
  }
  return slope > 0 ? Level{supply - base, slope} : Level{0, 1};
}

/// Hands out the rounding remainder: one microsecond each, largest remainder first.
void hand_out_rest(std::int64_t rest, std::span<const Claim> claims,
                   const std::vector<std::int64_t>& remainders, std::vector<CpuTime>& shares) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (shares[i] < claims[i].ceiling) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  while (rest > 0 && !order.empty()) {
    std::size_t kept = 0;
    for (const std::size_t i : order) {
      if (rest == 0) {
        return;
      }
      shares[i] += CpuTime{1};
      --rest;
      if (shares[i] < claims[i].ceiling) {
        order[kept++] = i;
      }
    }
    order.resize(kept);
  }
}

}  // namespace

std::vector<CpuTime> fair_shares(CpuTime supply, std::span<const Claim> claims) {
  std::vector<CpuTime> shares(claims.size());
  std::int64_t floors = 0;
  std::int64_t ceilings = 0;
  for (const Claim& claim : claims) {
    floors += floor_of(claim).value;
    ceilings += std::max<std::int64_t>(claim.ceiling.value, 0);
  }
  if (supply.value <= 0 || claims.empty()) {
    return shares;
  }
  if (ceilings <= supply.value) {
    for (std::size_t i = 0; i < claims.size(); ++i) {
      shares[i] = std::max(claims[i].ceiling, CpuTime{});
    }
    return shares;
  }
  if (floors >= supply.value) {
    // Promises that do not fit are cut in proportion.
    std::vector<std::int64_t> remainders(claims.size());
    std::int64_t rest = supply.value;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const CpuTime floor = floor_of(claims[i]);
      shares[i] = scaled(floor, supply.value, floors);
      remainders[i] = scaled(floor * 1000, supply.value, floors).value % 1000;
      rest -= shares[i].value;
    }
    hand_out_rest(rest, claims, remainders, shares);
    return shares;
  }

  const Level level = find_level(supply.value, claims);
  std::vector<std::int64_t> remainders(claims.size());
  std::int64_t rest = supply.value;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const WideInt exact = WideInt{claims[i].weight} * level.amount;
    const CpuTime share{static_cast<std::int64_t>(exact / level.weight)};
    shares[i] = std::clamp(share, floor_of(claims[i]), std::max(claims[i].ceiling, CpuTime{}));
    remainders[i] = shares[i] == share ? static_cast<std::int64_t>(exact % level.weight) : 0;
    rest -= shares[i].value;
  }
  hand_out_rest(rest, claims, remainders, shares);
  return shares;
}

}  // namespace vmnuma
