// SPDX-License-Identifier: Apache-2.0
#include "placement/node_load.h"

#include <algorithm>
#include <limits>

#include "placement/result.h"

namespace vmnuma::placement {
namespace {

constexpr int kLevelBits = 20;
constexpr std::int64_t kUnlimited = NodeLoad::kAllServed;

/// weight x ratio without overflow: weights and ratios of very different VMs can be far apart.
std::int64_t times(std::int64_t weight, std::int64_t ratio) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(weight, ratio, &product) ? kUnlimited : product;
}

std::int64_t ratio(CpuTime amount, std::int64_t weight) {
  return (amount.value << kLevelBits) / weight;
}

/// weight x level, but never more than `limit`, which also keeps the product in range.
CpuTime at_level(std::int64_t weight, std::int64_t level, CpuTime limit) {
  return level >= ratio(limit, weight) ? limit : CpuTime{(weight * level) >> kLevelBits};
}

}  // namespace

NodeLoad::NodeLoad(const Supply& supply, std::vector<Load> loads)
    : supply_(supply), loads_(std::move(loads)), capacity_(placement::capacity(supply)) {
  rebuild();
}

std::vector<NodeLoad::Point> NodeLoad::sorted_points(const std::vector<Load>& loads,
                                                     CpuTime Load::*amount) {
  struct Entry {
    std::int64_t ratio;
    std::int64_t amount;
    std::int64_t weight;
  };
  std::vector<Entry> entries;
  entries.reserve(loads.size());
  for (const Load& load : loads) {
    entries.push_back({ratio(load.*amount, load.weight), (load.*amount).value, load.weight});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.ratio < b.ratio; });
  std::vector<Point> points;
  points.reserve(entries.size() + 1);
  Point at;
  for (const Entry& entry : entries) {
    at.ratio = entry.ratio;
    points.push_back(at);
    at.amount_before += entry.amount;
    at.weight_before += entry.weight;
  }
  at.ratio = kUnlimited;
  points.push_back(at);
  return points;
}

void NodeLoad::rebuild() {
  by_demand_ = sorted_points(loads_, &Load::demand);
  by_entitled_ = sorted_points(loads_, &Load::entitled);
  demand_ = CpuTime{by_demand_.back().amount_before};
  owed_ = owed(Exchange{});
}

std::int64_t NodeLoad::level(CpuTime served, const Exchange& exchange) const {
  const Point& total = by_demand_.back();
  // What all would take at this level, the exchange included; `point` says who is satisfied below
  // it.
  const auto taken = [&](const Point& point) {
    std::int64_t amount =
        point.amount_before +
        (times(total.weight_before - point.weight_before, point.ratio) >> kLevelBits);
    if (exchange.out) {
      amount -= at_level(exchange.out->weight, point.ratio, exchange.out->demand).value;
    }
    if (exchange.in) {
      amount += at_level(exchange.in->weight, point.ratio, exchange.in->demand).value;
    }
    return amount;
  };
  auto found =
      std::partition_point(by_demand_.begin(), by_demand_.end() - 1,
                           [&](const Point& point) { return taken(point) < served.value; });
  // Loads of one ratio are satisfied together; rounding must not part them.
  found = std::partition_point(by_demand_.begin(), found,
                               [&](const Point& point) { return point.ratio < found->ratio; });

  // Between this bend and the one before it the takers are fixed, but for the one who comes.
  std::int64_t amount_left = served.value - found->amount_before;
  std::int64_t weight_left = total.weight_before - found->weight_before;
  if (exchange.out) {
    // It is among the satisfied exactly if its own bend lies before `found`.
    if (ratio(exchange.out->demand, exchange.out->weight) < found->ratio) {
      amount_left += exchange.out->demand.value;
    } else {
      weight_left -= exchange.out->weight;
    }
  }
  const auto level_of = [](std::int64_t amount, std::int64_t weight) {
    return weight > 0 ? (std::max<std::int64_t>(amount, 0) << kLevelBits) / weight : kUnlimited;
  };
  if (!exchange.in) {
    return level_of(amount_left, weight_left);
  }
  const std::int64_t unsatisfied = level_of(amount_left, weight_left + exchange.in->weight);
  if (unsatisfied <= ratio(exchange.in->demand, exchange.in->weight)) {
    return unsatisfied;
  }
  return level_of(amount_left - exchange.in->demand.value, weight_left);
}

CpuTime NodeLoad::owed_at_level(const Load& load, std::int64_t level) {
  return load.entitled - at_level(load.weight, level, load.entitled);
}

std::int64_t NodeLoad::level_after(const Exchange& exchange) const {
  const CpuTime demand = demand_ - (exchange.out ? exchange.out->demand : CpuTime{}) +
                         (exchange.in ? exchange.in->demand : CpuTime{});
  const CpuTime served = service_beside_others(supply_, demand);
  return served >= demand ? kAllServed : level(served, exchange);
}

CpuTime NodeLoad::owed(const Exchange& exchange) const {
  const std::int64_t at = level_after(exchange);
  if (at == kAllServed) {
    return CpuTime{};
  }
  const Point& total = by_entitled_.back();
  const auto first = std::partition_point(by_entitled_.begin(), by_entitled_.end() - 1,
                                          [&](const Point& point) { return point.ratio <= at; });
  // From `first` on everybody is entitled to more than the level gives.
  const std::int64_t weight = total.weight_before - first->weight_before;
  CpuTime owed{total.amount_before - first->amount_before};
  if (weight > 0) {
    owed -= CpuTime{(weight * at) >> kLevelBits};
  }
  if (exchange.out) {
    owed -= owed_at_level(*exchange.out, at);
  }
  if (exchange.in) {
    owed += owed_at_level(*exchange.in, at);
  }
  return std::max(owed, CpuTime{});
}

CpuTime NodeLoad::given(const Load& load) const {
  return at_level(load.weight, level_after(Exchange{}), load.demand);
}

void NodeLoad::apply(const Exchange& exchange) {
  if (exchange.out) {
    const auto found = std::find(loads_.begin(), loads_.end(), *exchange.out);
    VMNUMA_CHECK(found != loads_.end());
    loads_.erase(found);
  }
  if (exchange.in) {
    loads_.push_back(*exchange.in);
  }
  rebuild();
}

}  // namespace vmnuma::placement
