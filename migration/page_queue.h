// SPDX-License-Identifier: Apache-2.0
/// The pages of a window that have to move, by target.
///
/// Problem: a page is assigned a home, and may lose it again before it has moved because the home
/// fills up or turns out not to accept the VM's pages. Approach: a page to be moved is queued, and
/// its part's Destinations count it as if it had arrived; planning again takes that back first.
/// Pages for which no home has room are parked.
///
/// Properties:
///  - the pages of one call go to one node, in ascending order;
///  - planned is the sum of what is queued and what was taken but not settled;
///  - a page that was never queried is not counted as left or queued if it could not move or its
///    mapping is given up: it is queried first.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "migration/destinations.h"
#include "migration/outcome.h"
#include "migration/page_window.h"

namespace vmnuma::migration {

/// Not thread-safe; executor worker only.
class PageQueue {
 public:
  /// The mapping of the pages.
  struct Mapping {
    Destinations& destinations;
    Bytes pool;
    Bytes block;  ///< the size within which pages go to one home
    bool given_up = false;
  };
  /// What could not be queued and does not wait for room.
  struct NotQueued {
    std::vector<PageUnit> to_ask_about;
    std::array<Bytes, kLeftoverCount> left{};  ///< by Leftover
  };

  /// Units in ascending order.
  [[nodiscard]] NotQueued add(std::vector<PageUnit> units, const Mapping& mapping);
  /// Plans everything again that is queued or waits for room.
  [[nodiscard]] NotQueued plan_again(const Mapping& mapping);

  [[nodiscard]] bool empty() const { return queue_.empty(); }
  /// Only if not empty().
  [[nodiscard]] const PageUnit& front() const { return queue_.front(); }
  /// The size of the units for the first unit's node, counted up to the unit that reaches `enough`.
  [[nodiscard]] Bytes size_of_next(Bytes enough) const;
  /// Takes units for one node: at least one, and at most `most` bytes unless the first one alone is
  /// larger.
  [[nodiscard]] std::vector<PageUnit> take(Bytes most);
  /// Puts back units that were taken but not moved.
  void put_back(const std::vector<PageUnit>& units);
  /// Settles a taken unit, which has arrived or failed.
  void settle(const PageUnit& unit) { planned_ -= unit.size; }

  [[nodiscard]] bool waits_for_room() const { return !parked_.empty(); }
  [[nodiscard]] std::vector<PageUnit> take_waiting() { return std::exchange(parked_, {}); }
  /// Counted as moved by Destinations, but not moved yet.
  [[nodiscard]] Bytes planned() const { return planned_; }

 private:
  std::vector<PageUnit> queue_;   ///< by target, then address
  std::vector<PageUnit> parked_;  ///< no home has room
  Bytes planned_;
};

}  // namespace vmnuma::migration
