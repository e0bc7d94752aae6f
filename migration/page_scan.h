// SPDX-License-Identifier: Apache-2.0
/// Which pages of a VM's mappings are looked at next.
///
/// Problem: asking about every page costs a tenth of moving it, most of a mapping may be holes, and
/// pages fail, hide and come apart while others are moved. Approach: window by window through the
/// mappings, the largest first. Where blocks have been huge pages, or a mapping was all on one
/// node, some pages speak for all, and only those that did not arrive are asked about. A mapping in
/// which as much was found as the survey saw is not searched on: the rest, often most of it, are
/// holes. Where much was not found, it is searched a second time for huge pages that the kernel's
/// NUMA balancing has hidden. Pages that failed are looked at again in three later rounds, and once
/// more to say what became of them.
///
/// Terms: Window: the pages that one query asks about. Unit, block: page_window.h.
///
/// Properties:
///  - every page of a mapping is in a window, unless as much as the survey saw was found before;
///  - what was not certain is asked about again, page by page;
///  - a mapping whose pages never move is given up after a bounded number of calls;
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

/// The status says that no page is there.
[[nodiscard]] bool is_absent(int status);

/// Not thread-safe; executor worker only.
class PageScan {
 public:
  /// A page that could not be moved.
  struct Retry {
    std::size_t range = 0;
    std::uint64_t address = 0;
    placement::NodeId from;
    Leftover reason{};
  };
  struct Window {
    std::size_t range = 0;
    std::vector<std::uint64_t> addresses;
    std::vector<Retry> retries;  ///< as addresses, if these are tried again
    bool look_for_huge = false;
    bool sampled = false;
    bool assumed = false;               ///< all is where PartRange::all_on says, if a spot check
                                        ///< agrees
    std::vector<int> statuses;          ///< as last asked
    std::vector<std::uint64_t> hidden;  ///< what is to be revealed
    placement::Bytes hidden_unit;
    bool revealed = false;
    [[nodiscard]] bool is_retry() const { return !retries.empty(); }
  };

  PageScan() = default;
  explicit PageScan(std::vector<PartRange> ranges);

  /// Goes on to the next window. How long to wait before it is asked about, mostly zero; nothing if
  /// there is none left.
  [[nodiscard]] std::optional<placement::Microseconds> next_window();
  /// The pages of these tries, all of the window's mapping, are the next window.
  void look_again(std::vector<Retry> retries);

  // The window, which there must be.
  [[nodiscard]] Window& window() { return window_; }
  [[nodiscard]] const PartRange& range() const { return ranges_[window_.range]; }
  /// The pool that its pages come from: their size for hugetlb, else zero.
  [[nodiscard]] placement::Bytes pool() const;
  /// Its pages were tried for the last time: only what became of them is still to be counted.
  [[nodiscard]] bool is_last_look() const;
  /// True if something in the window is to be revealed first; then says what. A second look asks
  /// again about nothing but blocks that were not seen.
  [[nodiscard]] bool find_hidden();
  /// What its statuses say.
  [[nodiscard]] std::vector<PageUnit> read();

  // What became of its pages.
  /// It is not simply a huge page on its way, or not where it was assumed to be: what its pages are
  /// is found out.
  void ask_again(const PageUnit& unit);
  /// It was planned, and is not there any more: a second look finds it if it is hidden.
  void unsee(const PageUnit& unit) { current().seen -= unit.size; }
  /// Its first page is tried again later. False: there are too many such pages.
  [[nodiscard]] bool try_later(const PageUnit& unit, Leftover reason);
  /// So many blocks turned out to be huge pages, or not to be.
  void note_blocks(std::int64_t whole, std::int64_t small);
  /// A call moved so much; `in_vain`: it could have moved something.
  void note_call(placement::Bytes moved, bool in_vain);
  /// Calls in a row have moved nothing of the mapping.
  [[nodiscard]] bool given_up() const;

 private:
  struct Range : PartRange {
    explicit Range(PartRange found) : PartRange(std::move(found)) {}

    placement::Bytes seen;         ///< by queries
    bool second_look = false;      ///< for huge pages that NUMA balancing has hidden
    std::int64_t stuck_calls = 0;  ///< in a row in which the kernel tried and nothing moved
    std::int64_t windows_not_probed =
        0;                         ///< still to pass before blocks are taken for huge pages again
    std::int64_t probe_pause = 1;  ///< how many the next time
    bool huge_so_far = false;      ///< the blocks that moved last were huge pages
    std::vector<std::uint64_t> blocks_to_ask;  ///< page by page, because a sample was not enough
    std::vector<std::uint64_t> pages_to_ask;   ///< because what was assumed of them was wrong
  };

  [[nodiscard]] Range& current() { return ranges_[window_.range]; }
  [[nodiscard]] bool has_window_left();
  void take_window(Range& range);
  [[nodiscard]] placement::Microseconds begin_retry_round();
  void take_retries();
  [[nodiscard]] bool may_be_hidden(int status) const;

  std::vector<Range> ranges_;  ///< largest first
  std::size_t next_range_ = 0;
  placement::Bytes next_offset_;
  Window window_;
  std::vector<Retry> retry_;     ///< for the next round
  std::vector<Retry> retrying_;  ///< of this round, still to be asked about, in descending order
  std::int64_t retry_round_ = 0;
};

}  // namespace vmnuma::migration
