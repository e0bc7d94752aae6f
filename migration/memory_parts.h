// SPDX-License-Identifier: Apache-2.0
/// Which homes each part of a VM's memory belongs to, and how much of it lies elsewhere.
///
/// Problem: the memory of a guest NUMA cell belongs on its client's node, all the rest is shared
/// out over the VM's homes, and which mapping is which cell's is only known from a survey.
/// Approach: a survey's mappings are told apart (placement/cell_mappings.h); each part has
/// Destinations of its own, made anew from what is resident. Mappings with an explicit memory
/// policy are left alone.
///
/// Terms: Part: memory that belongs to the same homes: first what is no cell's, then by cell.
///
/// Properties:
///  - where the cells cannot be told, all memory is one part;
///  - a mapping that lies where it belongs is not among those to search, unless memory is shared
///    out over several homes.
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

/// Of anything that is compared with a whole: a 64th of it is worth another look.
inline constexpr std::int64_t kMuch = 64;

/// A mapping that may have pages to move.
struct PartRange {
  MemoryRange memory;
  std::size_t part = 0;
  placement::Bytes resident;                ///< by the survey, which sees hidden pages too
  std::optional<placement::NodeId> all_on;  ///< nearly all of it is there, and has to leave for the
                                            ///< same other node
};

/// Not thread-safe; executor worker only.
class MemoryParts {
 public:
  explicit MemoryParts(MemoryChange change) : change_(std::move(change)) {}

  struct Survey {
    std::vector<PartRange> ranges;     ///< to be searched
    placement::Bytes total;            ///< resident
    placement::Bytes bound_by_policy;  ///< of what lies elsewhere
  };
  /// What the mappings mean; everything known of earlier ones is forgotten.
  [[nodiscard]] Survey take(std::vector<MemoryRange> found);

  /// There is anything to bring home.
  [[nodiscard]] bool has_homes() const { return !change_.quotas.empty(); }
  /// There was a survey.
  [[nodiscard]] bool surveyed() const { return !parts_.empty(); }
  [[nodiscard]] bool is_home(std::size_t part, placement::NodeId node) const;
  /// The part must be one that a survey told.
  [[nodiscard]] Destinations& destinations(std::size_t part) { return parts_[part]; }
  /// What still has to travel and may.
  [[nodiscard]] placement::Bytes remaining() const;
  /// Why the cells could not be told apart in the last survey; empty if they could, or needed not
  /// be.
  [[nodiscard]] const std::string& cells_unknown_because() const { return cells_unknown_because_; }

  /// Homes without room may be tried again.
  void reopen();
  /// Homes without room are given up.
  void close_blocked();

 private:
  [[nodiscard]] std::vector<std::size_t> parts_of(const std::vector<MemoryRange>& found);
  [[nodiscard]] std::vector<NodeQuota> quotas_of(std::size_t part) const;
  [[nodiscard]] std::optional<placement::NodeId> all_on(const PartRange& range) const;

  MemoryChange change_;
  std::vector<Destinations> parts_;
  std::string cells_unknown_because_;
};

}  // namespace vmnuma::migration
