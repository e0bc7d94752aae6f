// SPDX-License-Identifier: Apache-2.0
/// Reads a stretch of a mapping: which addresses to query, and which pages the answers describe.
///
/// Problem: one address moves a whole transparent huge page, but no file that a daemon may read
/// shows which addresses are huge pages. Submitting all 512 addresses of one works, but every
/// second one comes back busy. Approach: a block (an aligned stretch of the huge page size) may be
/// one huge page if its pages are all present and all on one node. It is then one unit, of which
/// only the first page is submitted; whether its last page came along is checked afterwards. Every
/// other page is a unit of its own. Querying every page costs a tenth of moving them, so where
/// blocks have been huge pages, only the first and the last page of each block are queried: a
/// sample. Where they have not, and a mapping is entirely on one node, some pages of each window
/// are queried.
///
/// Properties:
///  - windows cover a range exactly once, without gaps;
///  - they end at a block boundary or at the end of the range;
///  - the units of a window add up to its pages that are present;
///  - the units and absent bytes of a sample, plus the blocks to be queried page by page, add up to
///    the window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "migration/page_mover.h"

namespace vmnuma::migration {

/// The smallest thing that is submitted: a page, or a block presumed to be one huge page.
struct PageUnit {
  std::uint64_t address = 0;
  Bytes size;
  NodeId from;
  NodeId to;                 ///< set when planned
  bool may_be_huge = false;  ///< `size` is a block's; only its first page is submitted
  bool sampled = false;      ///< only its first and its last page were queried
  bool assumed = false;      ///< only some other pages of its window were queried
  bool operator==(const PageUnit&) const = default;
};

/// Length of the window that begins `offset` bytes into the range: at most `size` bytes, at least
/// one page, zero at the end of the range.
[[nodiscard]] Bytes window_length(const MemoryRange& range, Bytes offset, Bytes size);

/// All pages of that window.
[[nodiscard]] std::vector<std::uint64_t> window_addresses(const MemoryRange& range, Bytes offset,
                                                          Bytes size);

/// A spot check queries every kSpotCheckApart-th page of a window.
inline constexpr std::size_t kSpotCheckApart = 64;
[[nodiscard]] std::vector<std::uint64_t> spot_check(std::span<const std::uint64_t> addresses);

/// Turns the statuses of a query, one per address, into units by ascending address. With
/// `look_for_huge` false every page is a unit.
[[nodiscard]] std::vector<PageUnit> read_window(const MemoryRange& range,
                                                std::span<const std::uint64_t> addresses,
                                                std::span<const int> statuses, bool look_for_huge);

/// The first and last page of each block of the window, and all pages outside whole blocks.
[[nodiscard]] std::vector<std::uint64_t> sample_addresses(const MemoryRange& range, Bytes offset,
                                                          Bytes size);

struct SampledPages {
  std::vector<PageUnit> units;
  std::vector<std::uint64_t> blocks;  ///< mixed or absent: to be queried page by page
};
/// Turns the statuses of sample_addresses() into units.
[[nodiscard]] SampledPages read_sample(const MemoryRange& range,
                                       std::span<const std::uint64_t> addresses,
                                       std::span<const int> statuses);

/// First addresses of the blocks that are entirely in the window and have only -EFAULT as status:
/// holes, or huge pages that NUMA balancing has hidden.
[[nodiscard]] std::vector<std::uint64_t> unseen_blocks(const MemoryRange& range,
                                                       std::span<const std::uint64_t> addresses,
                                                       std::span<const int> statuses);

/// The pages of a block, in order.
[[nodiscard]] std::vector<std::uint64_t> pages_of_block(const MemoryRange& range,
                                                        std::uint64_t block);

/// The pages of a block that turned out to be small, except the first.
[[nodiscard]] std::vector<PageUnit> rest_of_block(const PageUnit& block, Bytes page_size);

}  // namespace vmnuma::migration
