// SPDX-License-Identifier: Apache-2.0
/// Which pages of a VM's mappings to look at next.
///
/// Problem: querying every page costs a tenth of moving it, most of a mapping may be holes, and
/// pages fail, get hidden and are split while others are moved. Approach: go through the mappings
/// window by window, the largest first. Where blocks have been huge pages, or a mapping was all on
/// one node, some pages stand for all, and only those that did not arrive are queried. Once as much
/// of a mapping has been found as the survey saw, its search ends: the rest, often most of it, is
/// holes. If much was not found, it is searched a second time for huge pages that the kernel's NUMA
/// balancing has hidden. Failed pages are looked at again in three later rounds, and once more to
/// say what became of them.
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

/// The status says that there is no page.
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
    bool assumed = false;       ///< all is where PartRange::all_on says, if a spot check agrees
    std::vector<int> statuses;  ///< of the last query
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

  // The window, which must exist.
  [[nodiscard]] Window& window() { return window_; }
  [[nodiscard]] const PartRange& range() const { return ranges_[window_.range]; }
  /// The pool that its pages come from: their size for hugetlb, else zero.
  [[nodiscard]] Bytes pool() const;
  /// Its pages were tried for the last time: all that remains is to count what became of them.
  [[nodiscard]] bool is_last_look() const;
  /// True if something in the window must be revealed first; then determines what. A second look
  /// queries only blocks that were not seen.
  [[nodiscard]] bool find_hidden();
  /// Interprets the statuses of the window.
  [[nodiscard]] std::vector<PageUnit> read();

  // What became of its pages.
  /// The unit is not simply a huge page that moved, or not where it was assumed to be: its pages
  /// are to be queried.
  void ask_again(const PageUnit& unit);
  /// It was planned, and is no longer there: a second look finds it if it is hidden.
  void unsee(const PageUnit& unit) { current().seen -= unit.size; }
  /// Retries its first page later. False: there are too many such pages.
  [[nodiscard]] bool try_later(const PageUnit& unit, Leftover reason);
  /// How many blocks turned out to be huge pages, and how many did not.
  void note_blocks(std::int64_t whole, std::int64_t small);
  /// A call moved that much; `in_vain`: it could have moved something.
  void note_call(Bytes moved, bool in_vain);
  /// Several calls in a row have moved nothing of the mapping.
  [[nodiscard]] bool given_up() const;

 private:
  struct Range : PartRange {
    explicit Range(PartRange found) : PartRange(std::move(found)) {}

    Bytes seen;                           ///< by queries
    bool second_look = false;             ///< for huge pages that NUMA balancing has hidden
    std::int64_t stuck_calls = 0;         ///< in a row in which the kernel tried and nothing moved
    std::int64_t windows_not_probed = 0;  ///< left before blocks are taken for huge pages again
    std::int64_t probe_pause = 1;         ///< its next value
    bool huge_so_far = false;             ///< the last blocks that moved were huge pages
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
  std::vector<Retry> retrying_;  ///< of this round, not queried yet, in descending order
  std::int64_t retry_round_ = 0;
};

}  // namespace vmnuma::migration
