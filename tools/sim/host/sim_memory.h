// SPDX-License-Identifier: Apache-2.0
/// The memory of a simulated host: records the node of every page of every VM.
///
/// Problem: the code that moves pages must work as on a real kernel, page by page. Approach: one
/// byte for each page of 2 MiB names its node; counts per node and cell are kept as well. A page
/// touched for the first time comes from the requested node, or from the nearest one with a free
/// page, as with the kernel's default policy. Huge pages (hugetlbfs) are a second pool of each
/// node; all pages of an owner are from the same pool.
///
/// Terms: Owner: a VM, by the number passed to add(). Cell: an equal part of an owner's pages in
/// the order of their addresses; an owner without guest NUMA has one.
///
/// Properties:
///  - a page is on one node or on none;
///  - counts and free memory always agree with the pages (audit);
///  - no more pages are taken than a node has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/topology.h"

namespace vmnuma::tools {

enum class SimPool { kOrdinary, kHuge };

class SimMemory {
 public:
  using Owner = std::size_t;
  /// Pages per node.
  using Counts = std::vector<std::int64_t>;

  /// Takes the number of ordinary pages of each node, the distances between nodes, row by row, and
  /// the number of huge pages; none if missing.
  SimMemory(const Counts& pages, const std::vector<std::int32_t>& distances,
            Counts huge_pages = {});

  void add(Owner owner, std::int64_t pages, std::int32_t cells, SimPool pool = SimPool::kOrdinary);
  void remove(Owner owner);

  /// Takes the next `pages` untouched pages of the cell from `near`, or from the nearest node of
  /// `allowed` that has free pages. Takes fewer if there are no more.
  void touch(Owner owner, std::size_t cell, std::int64_t pages, NodeIndex near,
             const std::vector<NodeIndex>& allowed);
  /// Moves one page. Returns false if it is on no node, or if the target has no free page.
  bool move(Owner owner, std::int64_t page, NodeIndex to);

  /// Takes all free ordinary pages of the node, as if for something else, until they are given
  /// back.
  void take_away(NodeIndex node);
  void give_back(NodeIndex node);

  [[nodiscard]] std::size_t node_count() const { return nearest_.size(); }
  [[nodiscard]] std::int64_t free(NodeIndex node, SimPool pool = SimPool::kOrdinary) const {
    return pages_in(pool).free[node];
  }
  [[nodiscard]] std::int64_t total(NodeIndex node, SimPool pool = SimPool::kOrdinary) const {
    return pages_in(pool).total[node];
  }
  [[nodiscard]] SimPool pool_of(Owner owner) const { return owners_.at(owner).pool; }
  [[nodiscard]] std::optional<NodeIndex> place(Owner owner, std::int64_t page) const;
  [[nodiscard]] std::int64_t pages(Owner owner) const;
  [[nodiscard]] std::size_t cells(Owner owner) const { return owners_.at(owner).counts.size(); }
  [[nodiscard]] std::int64_t first_page(Owner owner, std::size_t cell) const;
  [[nodiscard]] const Counts& counts(Owner owner, std::size_t cell) const {
    return owners_.at(owner).counts[cell];
  }
  /// Returns the sums over all cells.
  [[nodiscard]] Counts counts(Owner owner) const;
  [[nodiscard]] std::int64_t untouched_pages(Owner owner, std::size_t cell) const;

  /// Recounts every page. Returns a sentence about the first inconsistency, or nothing.
  [[nodiscard]] std::optional<std::string> audit() const;

 private:
  static constexpr std::int8_t kNowhere = -1;
  struct Pages {
    SimPool pool{};
    std::vector<std::int8_t> on;             ///< node of each page
    std::vector<Counts> counts;              ///< by cell
    std::vector<std::int64_t> next_touched;  ///< by cell
  };
  [[nodiscard]] std::size_t cell_of(const Pages& owner, std::int64_t page) const;

  struct Pool {
    Counts total;
    Counts free;
    Counts taken_away;
  };
  [[nodiscard]] Pool& pages_in(SimPool pool) { return pools_[static_cast<std::size_t>(pool)]; }
  [[nodiscard]] const Pool& pages_in(SimPool pool) const {
    return pools_[static_cast<std::size_t>(pool)];
  }

  std::array<Pool, 2> pools_;
  std::vector<std::vector<NodeIndex>> nearest_;  ///< per node, all nodes by distance
  std::map<Owner, Pages> owners_;
};

}  // namespace vmnuma::tools
