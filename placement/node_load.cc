// SPDX-License-Identifier: Apache-2.0
#include "placement/node_load.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "placement/base/result.h"

namespace vmnuma {
namespace {

/// a x b in units of 2^-24. Weights and levels of very different clients can be far apart; a
/// product beyond the range is more than any node has.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return (__builtin_mul_overflow(a, b, &product) ? Pace::kUnlimited : product) >> Pace::kBits;
}

/// The same where the result is in range but the product may not be.
std::int64_t times_wide(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>((WideInt{a} * b) >> Pace::kBits);
}

/// amount / by in units of 2^-24, rounded up, so that multiplying by `by` yields at least the
/// amount.
std::int64_t rounded_up_part(CpuTime amount, std::int64_t by) {
  return divided_up(amount.value << Pace::kBits, by);
}

/// Thread time that a load runs at a level.
std::int64_t run(const Load& load, std::int64_t level) {
  return std::min(load.demand.value, times(load.weight, level));
}

/// The level at which a load of weight `weight` runs `amount`.
std::int64_t level_of(std::int64_t amount, std::int64_t weight) {
  return weight > 0 ? (std::max<std::int64_t>(amount, 0) << Pace::kBits) / weight
                    : Pace::kUnlimited;
}

/// What a unit of busy thread time is worth on this node.
std::int64_t efficiency_of(const Supply& supply, CpuTime busy) {
  return busy <= supply.cores ? Pace::kFull
                              : (service(supply, busy).value << Pace::kBits) / busy.value;
}

}  // namespace

FewLoads::FewLoads(std::initializer_list<Load> loads) {
  for (const Load& load : loads) {
    add(load);
  }
}

void FewLoads::add(const Load& load) {
  VMNUMA_CHECK(count_ < kMost);
  loads_[count_++] = load;
}

CpuTime Pace::given(const Load& load) const {
  return CpuTime{times(run(load, level), efficiency)};
}

CpuTime Pace::owed(const Load& load) const {
  return std::max(load.entitled - given(load), CpuTime{});
}

std::int64_t Pace::owed_by_thousandths(std::span<const WeighedLoad> loads) const {
  std::int64_t sum = 0;
  for (const auto& [load, weight] : loads) {
    sum += owed(load).value * weight.value;
  }
  return sum;
}

NodeLoad::NodeLoad(const Supply& supply, const std::vector<Load>& loads)
    : supply_(supply),
      threads_left_(threads_left(supply)),
      capacity_(vmnuma::capacity(supply)),
      busy_efficiency_(efficiency_of(supply, std::max(supply.threads, supply.non_vm))),
      by_demand_(points_of(loads, Key::kDemand)),
      by_entitled_(points_of(loads, Key::kEntitled)),
      by_need_(points_of(loads, Key::kNeed)) {
  take_totals();
}

std::int64_t NodeLoad::key_of(const Load& load, Key key) {
  switch (key) {
    case Key::kDemand:
      return rounded_up_part(load.demand, load.weight);
    case Key::kEntitled:
      return rounded_up_part(load.entitled, load.weight);
    case Key::kNeed:
      break;
  }
  return load.demand.value > 0 ? rounded_up_part(load.entitled, load.demand.value) : 0;
}

namespace {

auto in_order(std::int64_t key, const Load& load) {
  return std::tuple{key, load.demand.value, load.entitled.value, load.weight};
}

}  // namespace

NodeLoad::Points NodeLoad::points_of(const std::vector<Load>& loads, Key key) const {
  std::vector<std::pair<std::int64_t, Load>> sorted;
  sorted.reserve(loads.size());
  for (const Load& load : loads) {
    sorted.emplace_back(key_of(load, key), load);
  }
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return in_order(a.first, a.second) < in_order(b.first, b.second);
  });
  Points points;
  points.reserve(sorted.size() + 1);
  for (const auto& [place, load] : sorted) {
    if (!points.empty() && points.back().load == load) {
      ++points.back().count;
    } else {
      points.push_back({place, load});
    }
  }
  points.push_back({Pace::kUnlimited, {CpuTime{}, CpuTime{}, 0}});
  add_up(points, key);
  return points;
}

void NodeLoad::add_up(Points& points, Key key) const {
  const Pace all_run{Pace::kUnlimited, busy_efficiency_};
  Point sums;
  for (Point& point : points) {
    point.demand_before = sums.demand_before;
    point.entitled_before = sums.entitled_before;
    point.weight_before = sums.weight_before;
    point.owed_before = sums.owed_before;
    sums.demand_before += point.load.demand.value * point.count;
    sums.entitled_before += point.load.entitled.value * point.count;
    sums.weight_before += point.load.weight * point.count;
    if (key == Key::kDemand) {
      sums.owed_before += all_run.owed(point.load).value * point.count;
    }
  }
}

NodeLoad::Points::iterator NodeLoad::place_of(Points& points, const Load& load, Key key) {
  return std::lower_bound(points.begin(), points.end() - 1, in_order(key_of(load, key), load),
                          [](const Point& point, const auto& wanted) {
                            return in_order(point.key, point.load) < wanted;
                          });
}

void NodeLoad::insert(Points& points, const Load& load, Key key) {
  const auto place = place_of(points, load, key);
  if (place->load == load) {
    ++place->count;
  } else {
    points.insert(place, {key_of(load, key), load});
  }
  add_up(points, key);
}

void NodeLoad::erase(Points& points, const Load& load, Key key) {
  const auto found = place_of(points, load, key);
  VMNUMA_CHECK(found != points.end() - 1 && found->load == load);
  if (found->count > 1) {
    --found->count;
  } else {
    points.erase(found);
  }
  add_up(points, key);
}

void NodeLoad::take_totals() {
  demand_ = CpuTime{by_demand_.back().demand_before};
  entitled_ = CpuTime{by_demand_.back().entitled_before};
  owed_ = owed(Exchange{});
}

std::int64_t NodeLoad::level(const Exchange& exchange) const {
  const Point& total = by_demand_.back();
  // What all loads would run at this level, the exchange included; `point` determines which demands
  // are met there.
  const auto run_at = [&](const Point& point) {
    std::int64_t amount =
        point.demand_before + times(total.weight_before - point.weight_before, point.key);
    for (const Load& load : exchange.out) {
      amount -= run(load, point.key);
    }
    for (const Load& load : exchange.in) {
      amount += run(load, point.key);
    }
    return amount;
  };
  auto found =
      std::partition_point(by_demand_.begin(), by_demand_.end() - 1,
                           [&](const Point& point) { return run_at(point) < threads_left_.value; });
  // Loads with the same key are met together; rounding must not separate them.
  found = std::partition_point(by_demand_.begin(), found,
                               [&](const Point& point) { return point.key < found->key; });

  // Between this bend and the one before it the set of loads that take more is fixed, except for
  // those that arrive.
  std::int64_t amount_left = threads_left_.value - found->demand_before;
  std::int64_t weight_left = total.weight_before - found->weight_before;
  for (const Load& load : exchange.out) {
    // Its demand is met exactly if its own bend lies before `found`.
    if (key_of(load, Key::kDemand) < found->key) {
      amount_left += load.demand.value;
    } else {
      weight_left -= load.weight;
    }
  }
  std::array<std::int64_t, FewLoads::kMost> keys{};
  std::size_t comers = 0;
  for (const Load& load : exchange.in) {
    keys[comers++] = key_of(load, Key::kDemand);
    weight_left += load.weight;
  }
  // Of the arriving loads, put aside those whose demand is met, smallest key first.
  for (std::size_t left = comers; left > 0; --left) {
    const auto modest = std::min_element(keys.begin(), keys.begin() + comers);
    if (level_of(amount_left, weight_left) <= *modest) {
      break;
    }
    const Load& load = exchange.in.begin()[modest - keys.begin()];
    amount_left -= load.demand.value;
    weight_left -= load.weight;
    *modest = Pace::kUnlimited;
  }
  return level_of(amount_left, weight_left);
}

Pace NodeLoad::pace_after(const Exchange& exchange) const {
  CpuTime demand = demand_;
  for (const Load& load : exchange.out) {
    demand -= load.demand;
  }
  for (const Load& load : exchange.in) {
    demand += load.demand;
  }
  if (demand <= threads_left_) {
    return {Pace::kUnlimited, efficiency_of(supply_, demand + supply_.non_vm)};
  }
  return {level(exchange), busy_efficiency_};
}

CpuTime NodeLoad::owed_at(const Pace& pace) const {
  const auto first_above = [](const Points& points, std::int64_t key) {
    return std::partition_point(points.begin(), points.end() - 1,
                                [key](const Point& point) { return point.key <= key; });
  };
  if (pace.level == Pace::kUnlimited) {
    // All run their full demand; owed are the loads that need more efficiency than there is.
    const auto first = first_above(by_need_, pace.efficiency);
    const Point& total = by_need_.back();
    return CpuTime{total.entitled_before - first->entitled_before -
                   times(total.demand_before - first->demand_before, pace.efficiency)};
  }
  // A load whose demand is met may still get less core time than it is entitled to.
  const auto not_met = first_above(by_demand_, pace.level);
  std::int64_t owed = not_met->owed_before;
  // The others run up to the level, which is worth this much per weight, and is too little for
  // every load that is entitled to more ...
  const std::int64_t worth = times_wide(pace.level, pace.efficiency);
  const auto first = first_above(by_entitled_, worth);
  const Point& total = by_entitled_.back();
  owed += total.entitled_before - first->entitled_before -
          times(total.weight_before - first->weight_before, worth);
  // ... but those of them that are met have been counted already.
  for (auto point = first_above(by_demand_, worth); point != not_met; ++point) {
    owed -=
        std::max<std::int64_t>(point->load.entitled.value - times(point->load.weight, worth), 0) *
        point->count;
  }
  return CpuTime{owed};
}

CpuTime NodeLoad::owed(const Exchange& exchange) const {
  const Pace pace = pace_after(exchange);
  if (pace.level == Pace::kUnlimited && pace.efficiency == Pace::kFull) {
    return CpuTime{};
  }
  CpuTime owed = owed_at(pace);
  for (const Load& load : exchange.out) {
    owed -= pace.owed(load);
  }
  for (const Load& load : exchange.in) {
    owed += pace.owed(load);
  }
  return std::max(owed, CpuTime{});
}

void NodeLoad::apply(const Exchange& exchange) {
  for (const Load& load : exchange.out) {
    erase(by_demand_, load, Key::kDemand);
    erase(by_entitled_, load, Key::kEntitled);
    erase(by_need_, load, Key::kNeed);
  }
  for (const Load& load : exchange.in) {
    insert(by_demand_, load, Key::kDemand);
    insert(by_entitled_, load, Key::kEntitled);
    insert(by_need_, load, Key::kNeed);
  }
  take_totals();
}

}  // namespace vmnuma
