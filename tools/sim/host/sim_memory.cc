// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_memory.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "placement/base/result.h"

namespace vmnuma::tools {

namespace {

/// Returns where a cell starts. Cells are as equal as possible, larger ones first.
std::int64_t cell_start(std::int64_t pages, std::int64_t cells, std::int64_t cell) {
  return cell * (pages / cells) + std::min(cell, pages % cells);
}

}  // namespace

SimMemory::SimMemory(const Counts& pages, const std::vector<std::int32_t>& distances,
                     Counts huge_pages) {
  const std::size_t count = pages.size();
  huge_pages.resize(count);
  pools_ = {Pool{pages, pages, Counts(count)}, Pool{huge_pages, huge_pages, Counts(count)}};
  for (NodeIndex from = 0; from < count; ++from) {
    std::vector<NodeIndex> order(count);
    std::iota(order.begin(), order.end(), NodeIndex{0});
    std::ranges::stable_sort(order, {}, [&](NodeIndex node) {
      return std::pair(node != from, distances[from * count + node]);
    });
    nearest_.push_back(std::move(order));
  }
}

void SimMemory::add(Owner owner, std::int64_t pages, std::int32_t cells, SimPool pool) {
  const auto count = static_cast<std::size_t>(std::max(cells, 1));
  Pages fresh;
  fresh.pool = pool;
  fresh.on.assign(static_cast<std::size_t>(pages), kNowhere);
  fresh.counts.assign(count, Counts(node_count()));
  for (std::size_t cell = 0; cell < count; ++cell) {
    fresh.next_touched.push_back(
        cell_start(pages, static_cast<std::int64_t>(count), static_cast<std::int64_t>(cell)));
  }
  owners_[owner] = std::move(fresh);
}

void SimMemory::remove(Owner owner) {
  const Counts held = counts(owner);
  Counts& free = pages_in(pool_of(owner)).free;
  for (NodeIndex node = 0; node < held.size(); ++node) {
    free[node] += held[node];
  }
  owners_.erase(owner);
}

std::int64_t SimMemory::first_page(Owner owner, std::size_t cell) const {
  const Pages& pages = owners_.at(owner);
  return cell_start(static_cast<std::int64_t>(pages.on.size()),
                    static_cast<std::int64_t>(pages.counts.size()),
                    static_cast<std::int64_t>(cell));
}

std::size_t SimMemory::cell_of(const Pages& owner, std::int64_t page) const {
  const auto pages = static_cast<std::int64_t>(owner.on.size());
  const auto cells = static_cast<std::int64_t>(owner.counts.size());
  const std::int64_t larger = pages % cells;
  const std::int64_t size = pages / cells;
  const std::int64_t in_larger = larger * (size + 1);
  return static_cast<std::size_t>(page < in_larger ? page / (size + 1)
                                                   : larger + (page - in_larger) / size);
}

std::int64_t SimMemory::untouched_pages(Owner owner, std::size_t cell) const {
  return first_page(owner, cell + 1) - owners_.at(owner).next_touched[cell];
}

void SimMemory::touch(Owner owner, std::size_t cell, std::int64_t pages, NodeIndex near,
                      const std::vector<NodeIndex>& allowed) {
  Pages& mine = owners_.at(owner);
  Counts& free = pages_in(mine.pool).free;
  const std::int64_t end = first_page(owner, cell + 1);
  for (const NodeIndex node : nearest_[near]) {
    if (std::ranges::find(allowed, node) == allowed.end()) {
      continue;
    }
    std::int64_t& next = mine.next_touched[cell];
    const std::int64_t taken = std::min({pages, free[node], end - next});
    std::fill_n(mine.on.begin() + next, taken, static_cast<std::int8_t>(node));
    mine.counts[cell][node] += taken;
    free[node] -= taken;
    next += taken;
    pages -= taken;
  }
}

bool SimMemory::move(Owner owner, std::int64_t page, NodeIndex to) {
  Pages& mine = owners_.at(owner);
  Counts& free = pages_in(mine.pool).free;
  std::int8_t& on = mine.on[static_cast<std::size_t>(page)];
  if (on == kNowhere || free[to] == 0) {
    return false;
  }
  const NodeIndex from = static_cast<std::uint8_t>(on);
  Counts& counts = mine.counts[cell_of(mine, page)];
  --counts[from];
  ++free[from];
  ++counts[to];
  --free[to];
  on = static_cast<std::int8_t>(to);
  return true;
}

void SimMemory::take_away(NodeIndex node) {
  Pool& pool = pages_in(SimPool::kOrdinary);
  pool.taken_away[node] += pool.free[node];
  pool.free[node] = 0;
}

void SimMemory::give_back(NodeIndex node) {
  Pool& pool = pages_in(SimPool::kOrdinary);
  pool.free[node] += pool.taken_away[node];
  pool.taken_away[node] = 0;
}

std::optional<NodeIndex> SimMemory::place(Owner owner, std::int64_t page) const {
  const Pages& mine = owners_.at(owner);
  if (page < 0 || page >= static_cast<std::int64_t>(mine.on.size())) {
    return std::nullopt;
  }
  const std::int8_t on = mine.on[static_cast<std::size_t>(page)];
  return on == kNowhere ? std::nullopt : std::optional(static_cast<NodeIndex>(on));
}

std::int64_t SimMemory::pages(Owner owner) const {
  return static_cast<std::int64_t>(owners_.at(owner).on.size());
}

SimMemory::Counts SimMemory::counts(Owner owner) const {
  Counts sum(node_count());
  for (const Counts& cell : owners_.at(owner).counts) {
    for (NodeIndex node = 0; node < sum.size(); ++node) {
      sum[node] += cell[node];
    }
  }
  return sum;
}

std::optional<std::string> SimMemory::audit() const {
  std::array<Counts, 2> held{Counts(node_count()), Counts(node_count())};
  for (const auto& [owner, pages] : owners_) {
    std::vector<Counts> counted(pages.counts.size(), Counts(node_count()));
    for (std::size_t cell = 0; cell < counted.size(); ++cell) {
      const std::int64_t end = first_page(owner, cell + 1);
      for (std::int64_t page = first_page(owner, cell); page < end; ++page) {
        const bool touched = page < pages.next_touched[cell];
        const std::int8_t on = pages.on[static_cast<std::size_t>(page)];
        if (touched != (on != kNowhere)) {
          return fmt::format("page {} of owner {} is {}", page, owner,
                             touched ? "lost" : "there without having been touched");
        }
        if (touched) {
          ++counted[cell][static_cast<std::uint8_t>(on)];
        }
      }
      for (NodeIndex node = 0; node < node_count(); ++node) {
        held[static_cast<std::size_t>(pages.pool)][node] += counted[cell][node];
      }
    }
    if (counted != pages.counts) {
      return fmt::format("the counts of owner {} do not agree with its pages", owner);
    }
  }
  for (std::size_t number = 0; number < pools_.size(); ++number) {
    const Pool& pool = pools_[number];
    for (NodeIndex node = 0; node < node_count(); ++node) {
      const std::int64_t holding = held[number][node];
      if (pool.free[node] < 0 ||
          holding + pool.free[node] + pool.taken_away[node] != pool.total[node]) {
        return fmt::format("node index {}: {} held, {} free and {} taken away are not {}", node,
                           holding, pool.free[node], pool.taken_away[node], pool.total[node]);
      }
    }
  }
  return std::nullopt;
}

}  // namespace vmnuma::tools
