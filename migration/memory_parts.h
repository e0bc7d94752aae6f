// SPDX-License-Identifier: Apache-2.0
/// Which homes each part of a VM's memory belongs to, and how much of it lies elsewhere.
///
/// Problem: the memory of a guest NUMA cell belongs on its client's node, the rest is shared out
/// over the VM's homes, and only a survey shows which mapping belongs to which cell. Approach:
/// assign a survey's mappings to cells (placement/cell_mappings.h); each part has its own
/// Destinations, recomputed from what is resident. Mappings with an explicit memory policy are left
/// alone.
///
/// Terms: Part: memory that belongs on the same homes: first the memory of no cell, then one part
/// per cell.
///
/// Properties:
///  - if the cells cannot be told apart, all memory is one part;
///  - a mapping that is where it belongs is not searched, unless memory is shared out over several
///    homes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "migration/destinations.h"
#include "migration/order.h"
#include "migration/page_mover.h"

namespace vmnuma::migration {

/// A 64th of the whole is enough to justify another look.
inline constexpr std::int64_t kMuch = 64;

/// A mapping that may contain pages to move.
struct PartRange {
  MemoryRange memory;
  std::size_t part = 0;
  Bytes resident;                ///< by the survey, which sees hidden pages, too
  std::optional<NodeId> all_on;  ///< nearly all of it is there, and has to go to the
                                 ///< same other node
};

/// Not thread-safe; executor worker only.
class MemoryParts {
 public:
  explicit MemoryParts(MemoryChange change) : change_(std::move(change)) {}

  struct Survey {
    std::vector<PartRange> ranges;  ///< to be searched
    Bytes total;                    ///< resident
    Bytes bound_by_policy;          ///< of what is elsewhere
  };
  /// Interprets the mappings; forgets everything about earlier ones.
  [[nodiscard]] Survey take(std::vector<MemoryRange> found);

  /// There is memory to bring home.
  [[nodiscard]] bool has_homes() const { return !change_.quotas.empty(); }
  /// There was a survey.
  [[nodiscard]] bool surveyed() const { return !parts_.empty(); }
  [[nodiscard]] bool is_home(std::size_t part, NodeId node) const;
  /// The part must come from a survey.
  [[nodiscard]] Destinations& destinations(std::size_t part) { return parts_[part]; }
  /// What still has to be moved and may be.
  [[nodiscard]] Bytes remaining() const;
  /// Why the cells could not be told apart in the last survey; empty if they could be, or did not
  /// need to be.
  [[nodiscard]] const std::string& cells_unknown_because() const { return cells_unknown_because_; }

  /// Homes without room may be tried again.
  void reopen();
  /// Homes without room are given up.
  void close_blocked();

 private:
  [[nodiscard]] std::vector<std::size_t> parts_of(const std::vector<MemoryRange>& found);
  [[nodiscard]] std::vector<NodeQuota> quotas_of(std::size_t part) const;
  [[nodiscard]] std::optional<NodeId> all_on(const PartRange& range) const;

  MemoryChange change_;
  std::vector<Destinations> parts_;
  std::string cells_unknown_because_;
};

}  // namespace vmnuma::migration
