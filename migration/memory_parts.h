// SPDX-License-Identifier: Apache-2.0
/// Which homes each part of a VM's memory belongs to, and how much of it is elsewhere.
///
/// Problem: the memory of a guest NUMA cell belongs on its client's node, the rest is divided over
/// the VM's homes, and only a survey shows which mapping belongs to which cell. Approach: assign a
/// survey's mappings to cells (placement/cell_mappings.h); each part has its own Destinations,
/// recomputed from what is resident. Mappings with an explicit memory policy are left alone.
///
/// Terms: Part: memory that belongs on the same homes. The first part is the memory of no cell; one
/// part per cell follows.
///
/// Properties:
///  - if the cells cannot be identified, all memory is one part;
///  - a mapping that is where it belongs is not searched, unless memory is divided over several
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

/// One part in this many of the whole is enough to justify another look.
inline constexpr std::int64_t kMuch = 64;

/// A mapping that may contain pages to move.
struct PartRange {
  MemoryRange memory;
  std::size_t part = 0;
  Bytes resident;                      ///< according to the survey, which also sees hidden pages
  std::optional<NodeId> all_pages_on;  ///< nearly all of it is resident, all on this node, and
                                       ///< moves to one other node
};

/// Not thread-safe; executor worker only.
class MemoryParts {
 public:
  explicit MemoryParts(MemoryChange change) : change_(std::move(change)) {}

  struct Survey {
    std::vector<PartRange> ranges;  ///< to be searched
    Bytes total;                    ///< resident
    Bytes bound_by_policy;          ///< the part of what is elsewhere
  };
  /// Takes the result of a survey; forgets everything about earlier ones.
  [[nodiscard]] Survey take(std::vector<MemoryRange> found);

  /// True if there is memory to bring home.
  [[nodiscard]] bool has_homes() const { return !change_.quotas.empty(); }
  /// True if there was a survey.
  [[nodiscard]] bool surveyed() const { return !parts_.empty(); }
  [[nodiscard]] bool is_home(std::size_t part, NodeId node) const;
  /// `part` must be from a survey.
  [[nodiscard]] Destinations& destinations(std::size_t part) { return parts_[part]; }
  /// What is still to be moved and may be moved.
  [[nodiscard]] Bytes remaining() const;
  /// Why the cells could not be identified in the last survey; empty if they were, or did not need
  /// to be.
  [[nodiscard]] const std::string& cells_unknown_because() const { return cells_unknown_because_; }

  /// Lets homes without room be tried again.
  void reopen();
  /// Gives up homes without room.
  void close_blocked();

 private:
  [[nodiscard]] std::vector<std::size_t> parts_of(const std::vector<MemoryRange>& found);
  [[nodiscard]] std::vector<NodeQuota> quotas_of(std::size_t part) const;
  [[nodiscard]] std::optional<NodeId> all_pages_on(const PartRange& range) const;

  MemoryChange change_;
  std::vector<Destinations> parts_;
  std::string cells_unknown_because_;
};

}  // namespace vmnuma::migration
