// SPDX-License-Identifier: Apache-2.0
/// Which pages of a VM's mappings to look at next.
///
/// Problem: querying every page costs a tenth of moving it, most of a mapping may be holes, and
/// while some pages are moved others fail, get hidden or are split. Approach: go through the
/// mappings window by window, the largest mapping first. Where blocks have been huge pages, or a
/// mapping was all on one node, some pages represent all, and only those that did not arrive are
/// queried. Once as much of a mapping has been found as the survey saw, its search ends: the rest,
/// often most of it, is holes. If much was not found, it is searched a second time for huge pages
/// that the kernel's NUMA balancing has hidden. Failed pages are tried again in three later rounds,
/// and queried once more to report what became of them.
///
/// Terms: Window: the pages covered by one query. Unit, block: page_window.h.
///
/// Properties:
///  - every page of a mapping is in a window, unless all that the survey saw was found earlier;
///  - what was uncertain is queried again, page by page;
///  - a window has room for a block, however large huge pages are on the host;
///  - if the pages of a mapping never move, it is given up after a bounded number of calls;
///  - no more than 65536 pages are remembered for another try.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "migration/memory_parts.h"
#include "migration/outcome.h"
#include "migration/page_mover.h"
#include "migration/page_window.h"

namespace vmnuma::migration {

/// True if the status means that there is no page.
[[nodiscard]] bool is_absent(int status);

/// Not thread-safe; executor worker only.
class PageScan {
 public:
  /// A page that could not be moved.
  struct Retry {
    std::size_t range = 0;
    std::uint64_t address = 0;
    NodeId from;
    Leftover reason{};
  };
  struct Window {
    std::size_t range = 0;
    std::vector<std::uint64_t> addresses;
    std::vector<Retry> retries;  ///< parallel to addresses, if these are retries
    bool look_for_huge = false;
    bool sampled = false;
    bool assumed = false;  ///< all pages are on PartRange::all_pages_on, if a spot check agrees
    std::vector<int> statuses;          ///< of the last query
    std::vector<std::uint64_t> hidden;  ///< to be revealed
    Bytes hidden_unit;
    bool revealed = false;
    [[nodiscard]] bool is_retry() const { return !retries.empty(); }
  };

  PageScan() = default;
  explicit PageScan(std::vector<PartRange> ranges);

  /// Advances to the next window. Returns how long to wait before querying it, usually zero;
  /// nothing if no window is left.
  [[nodiscard]] std::optional<Microseconds> next_window();
  /// Makes the pages of these retries, all in the window's mapping, the next window.
  void look_again(std::vector<Retry> retries);

  // The current window, which must exist.
  [[nodiscard]] Window& window() { return window_; }
  [[nodiscard]] const PartRange& range() const { return ranges_[window_.range]; }
  /// The pool of the window's pages: their page size for hugetlb, else zero.
  [[nodiscard]] Bytes pool() const;
  /// True if the window's pages were tried for the last time, so that only their fate remains to be
  /// counted.
  [[nodiscard]] bool is_last_look() const;
  /// Returns whether something in the window must be revealed first, and determines what. A second
  /// look queries only blocks that were not seen.
  [[nodiscard]] bool find_hidden();
  /// Turns the statuses of the window into units.
  [[nodiscard]] std::vector<PageUnit> read();

  // The fate of the window's pages.
  // Has the pages of the unit queried one by one, because the unit is not simply a huge page that
  // moved, or is not where it was assumed to be.
  void ask_again(const PageUnit& unit);
  /// For a planned unit that is no longer there: a second look finds it if it is hidden.
  void unsee(const PageUnit& unit) { current().seen -= unit.size; }
  /// Retries the unit's first page later. False: there are too many such pages.
  [[nodiscard]] bool try_later(const PageUnit& unit, Leftover reason);
  /// Counts blocks that turned out to be huge pages, and blocks that did not.
  void record_blocks(std::int64_t whole, std::int64_t small);
  /// Records the result of a call; `in_vain`: if it moved nothing, it could have.
  void record_call(Bytes moved, bool in_vain);
  /// True if several calls in a row have moved nothing of the mapping.
  [[nodiscard]] bool given_up() const;

 private:
  struct Range : PartRange {
    explicit Range(PartRange found) : PartRange(std::move(found)) {}

    Bytes seen;                           ///< by queries
    bool second_look = false;             ///< for huge pages that NUMA balancing has hidden
    std::int64_t stuck_calls = 0;         ///< in a row in which the kernel tried and nothing moved
    std::int64_t windows_not_probed = 0;  ///< remaining, until blocks are presumed huge again
    std::int64_t probe_pause = 1;         ///< the next value of windows_not_probed
    bool huge_so_far = false;             ///< the most recently moved blocks were huge pages
    std::vector<std::uint64_t> blocks_to_ask;  ///< page by page, because a sample was not enough
    std::vector<std::uint64_t> pages_to_ask;   ///< because an assumption about them was wrong
  };

  [[nodiscard]] Range& current() { return ranges_[window_.range]; }
  [[nodiscard]] bool has_window_left();
  void take_window(Range& range);
  [[nodiscard]] Microseconds begin_retry_round();
  void take_retries();
  [[nodiscard]] bool may_be_hidden(int status) const;

  std::vector<Range> ranges_;  ///< largest first
  std::size_t next_range_ = 0;
  Bytes next_offset_;
  Window window_;
  std::vector<Retry> retry_;     ///< for the next round
  std::vector<Retry> retrying_;  ///< of this round, not queried yet; descending
  std::int64_t retry_round_ = 0;
};

}  // namespace vmnuma::migration
