// SPDX-License-Identifier: Apache-2.0
/// The pages of a window that have to go, by target.
///
/// Problem: a page gets a home to go to, and may lose it again before it has gone: the home runs
/// full, or turns out not to take the VM's pages. Approach: what goes is queued and counted by its
/// part's Destinations as if it were there; planning again takes that back first. Pages whose homes
/// are full wait aside.
///
/// Properties:
///  - pages of one call go to one node, in ascending order;
///  - what is planned is the sum of what is queued and what was taken and has not been settled;
///  - a page that nobody asked about is not left where it is, or queued, if it could not go or its
///    mapping is given up: it is asked about first.
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
  /// Of the mapping that the pages are of.
  struct Mapping {
    Destinations& destinations;
    placement::Bytes pool;
    placement::Bytes block;  ///< the size within which pages go to one home
    bool given_up = false;
  };
  /// What could not be queued and does not wait for room either.
  struct NotQueued {
    std::vector<PageUnit> to_ask_about;
    std::array<placement::Bytes, kLeftoverCount> left{};  ///< by Leftover
  };

  /// Units in ascending order.
  [[nodiscard]] NotQueued add(std::vector<PageUnit> units, const Mapping& mapping);
  /// All that is queued or waits for room is planned anew.
  [[nodiscard]] NotQueued plan_again(const Mapping& mapping);

  [[nodiscard]] bool empty() const { return queue_.empty(); }
  /// Not empty() only.
  [[nodiscard]] const PageUnit& front() const { return queue_.front(); }
  /// The size of what goes to the first one's node, up to the unit that reaches `enough`.
  [[nodiscard]] placement::Bytes size_of_next(placement::Bytes enough) const;
  /// Units for one node, at least one, and no more than `most` bytes unless that one has more.
  [[nodiscard]] std::vector<PageUnit> take(placement::Bytes most);
  /// They were taken and not moved.
  void put_back(const std::vector<PageUnit>& units);
  /// A unit that was taken has arrived or not.
  void settle(const PageUnit& unit) { planned_ -= unit.size; }

  [[nodiscard]] bool waits_for_room() const { return !parked_.empty(); }
  [[nodiscard]] std::vector<PageUnit> take_waiting() { return std::exchange(parked_, {}); }
  /// Counted by Destinations as moved, but not moved yet.
  [[nodiscard]] placement::Bytes planned() const { return planned_; }

 private:
  std::vector<PageUnit> queue_;   ///< by target, then address
  std::vector<PageUnit> parked_;  ///< no home has room
  placement::Bytes planned_;
};

}  // namespace vmnuma::migration
