// SPDX-License-Identifier: Apache-2.0
#include "migration/page_queue.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace vmnuma::migration {

PageQueue::NotQueued PageQueue::add(std::vector<PageUnit> units, const Mapping& mapping) {
  const auto block = static_cast<std::uint64_t>(mapping.block.value);
  NotQueued not_queued;
  const auto count_left = [&](Leftover reason, Bytes size) {
    not_queued.left[static_cast<std::size_t>(reason)] += size;
  };
  std::optional<PageUnit> neighbour;
  for (PageUnit& unit : units) {
    const bool near = neighbour && neighbour->address / block == unit.address / block;
    const Destination destination = mapping.destinations.choose(
        unit.from, unit.size, mapping.pool, near ? std::optional(neighbour->to) : std::nullopt);
    const bool goes = std::holds_alternative<GoTo>(destination) ||
                      std::holds_alternative<WaitForRoom>(destination);
    if ((unit.sampled || unit.assumed) && (mapping.given_up || !goes)) {
      not_queued.to_ask_about.push_back(unit);
      continue;
    }
    if (std::holds_alternative<Stay>(destination)) {
      continue;
    }
    if (mapping.given_up) {
      count_left(Leftover::kPinned, unit.size);
    } else if (const auto* go = std::get_if<GoTo>(&destination)) {
      unit.to = go->node;
      mapping.destinations.count_move(unit.from, unit.to, unit.size);
      planned_ += unit.size;
      queue_.push_back(unit);
      neighbour = unit;
    } else if (const auto* refused = std::get_if<Refused>(&destination)) {
      count_left(refused->reason, unit.size);
    } else {
      parked_.push_back(unit);
    }
  }
  std::sort(queue_.begin(), queue_.end(), [](const PageUnit& a, const PageUnit& b) {
    return std::pair(a.to, a.address) < std::pair(b.to, b.address);
  });
  return not_queued;
}

PageQueue::NotQueued PageQueue::plan_again(const Mapping& mapping) {
  std::vector<PageUnit> units = std::exchange(queue_, {});
  for (const PageUnit& unit : units) {
    mapping.destinations.count_move(unit.to, unit.from, unit.size);
    planned_ -= unit.size;
  }
  for (const PageUnit& unit : take_waiting()) {
    units.push_back(unit);
  }
  std::ranges::sort(units, {}, &PageUnit::address);
  return add(std::move(units), mapping);
}

Bytes PageQueue::size_of_next(Bytes enough) const {
  Bytes sum;
  for (const PageUnit& unit : queue_) {
    if (unit.to != queue_.front().to || sum >= enough) {
      break;
    }
    sum += unit.size;
  }
  return sum;
}

std::vector<PageUnit> PageQueue::take(Bytes most) {
  Bytes sum;
  auto end = queue_.begin();
  while (end != queue_.end() && end->to == queue_.front().to &&
         (end == queue_.begin() || sum + end->size <= most)) {
    sum += end->size;
    ++end;
  }
  std::vector<PageUnit> taken(queue_.begin(), end);
  queue_.erase(queue_.begin(), end);
  return taken;
}

void PageQueue::put_back(const std::vector<PageUnit>& units) {
  queue_.insert(queue_.end(), units.begin(), units.end());
}

}  // namespace vmnuma::migration
