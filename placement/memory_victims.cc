// SPDX-License-Identifier: Apache-2.0
#include "placement/memory_victims.h"

#include <algorithm>
#include <functional>

namespace vmnuma {

namespace {

constexpr std::int32_t kNeverKilled = -1000;

ReclaimPlace place_of(const MemoryUser& user, std::size_t number) {
  const Bytes charged = user.guest + user.file;
  const Bytes with_a_place = user.file + (user.may_swap ? user.guest : Bytes{});
  const Bytes evictable = std::max(std::min(with_a_place, charged - user.unevictable), Bytes{});
  const auto beyond = [&](Bytes protection) {
    return std::max(std::min(evictable, charged - protection), Bytes{});
  };
  const Bytes unprotected = beyond(std::max(user.min, user.low));
  if (user.high && charged > *user.high && unprotected > Bytes{}) {
    return {number, ReclaimTurn::kAboveHigh, unprotected};
  }
  if (unprotected > Bytes{}) {
    return {number, ReclaimTurn::kUnprotected, unprotected};
  }
  const Bytes below_low = beyond(user.min);
  return below_low > Bytes{} ? ReclaimPlace{number, ReclaimTurn::kBelowLow, below_low}
                             : ReclaimPlace{number, ReclaimTurn::kNever, {}};
}

}  // namespace

std::vector<ReclaimPlace> reclaim_order(const std::vector<MemoryUser>& users) {
  std::vector<ReclaimPlace> order;
  for (std::size_t number = 0; number < users.size(); ++number) {
    order.push_back(place_of(users[number], number));
  }
  std::ranges::stable_sort(order, [](const ReclaimPlace& a, const ReclaimPlace& b) {
    return a.turn != b.turn ? a.turn < b.turn : a.takeable > b.takeable;
  });
  return order;
}

std::vector<KillPlace> kill_order(const std::vector<MemoryUser>& users, Bytes host) {
  std::vector<KillPlace> order;
  for (std::size_t number = 0; number < users.size(); ++number) {
    const MemoryUser& user = users[number];
    if (user.oom_score_adj != kNeverKilled) {
      order.push_back({number, user.guest + user.swap + scaled(host, user.oom_score_adj, 1000)});
    }
  }
  std::ranges::stable_sort(order, std::ranges::greater(), &KillPlace::badness);
  return order;
}

std::vector<Bytes> effective_protection(std::vector<Bytes> claimed, Bytes available) {
  const Bytes sum = sum_of(claimed);
  if (sum > available) {
    for (Bytes& claim : claimed) {
      claim = scaled(claim, available.value, sum.value);
    }
  }
  return claimed;
}

}  // namespace vmnuma
