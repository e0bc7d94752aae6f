// SPDX-License-Identifier: Apache-2.0
/// Reading a stretch of a mapping: which addresses to ask about, and which pages the answers mean.
///
/// Problem: one address moves a whole transparent huge page, but nothing a daemon may read says
/// which addresses are huge pages. Submitting all 512 addresses of one works, but every second one
/// comes back busy. Approach: a block (an aligned stretch of the huge page's size) whose pages are
/// all there and all on one node may be one huge page: it is one unit, of which only the first page
/// is submitted; whether its last page came along is looked at afterwards. All other pages are
/// units of their own. Asking about every page costs a tenth of moving them, so where blocks have
/// been huge pages only the first and the last page of each block are asked about: a sample. Where
/// they have not, and a mapping is on one node as a whole, some pages of each window are.
///
/// Properties:
///  - windows cover a range exactly once, without gaps;
///  - they end at a block's border unless the range ends;
///  - units and absent bytes add up to the window;
///  - those of a sample add up to it with the blocks that are to be asked about whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "migration/page_mover.h"

namespace vmnuma::migration {

/// The smallest thing that is submitted: a page, or a block that is taken for one huge page.
struct PageUnit {
  std::uint64_t address = 0;
  placement::Bytes size;
  placement::NodeId from;
  placement::NodeId to;      ///< set when it is planned
  bool may_be_huge = false;  ///< `size` is a block's; only its first page is submitted
  bool sampled = false;      ///< nothing but its first and its last page was asked about
  bool assumed = false;      ///< nobody asked about this page, only about some of its window
  bool operator==(const PageUnit&) const = default;
};

/// How far a window reaches that begins `offset` bytes into the range: at most `size` bytes, at
/// least one page, nothing at the end of the range.
[[nodiscard]] placement::Bytes window_length(const MemoryRange& range, placement::Bytes offset,
                                             placement::Bytes size);

/// All pages of that window.
[[nodiscard]] std::vector<std::uint64_t> window_addresses(const MemoryRange& range,
                                                          placement::Bytes offset,
                                                          placement::Bytes size);

struct WindowPages {
  std::vector<PageUnit> units;  ///< ascending address
  placement::Bytes absent;
};
/// Some of a window's pages, one of kSpotCheckApart.
inline constexpr std::size_t kSpotCheckApart = 64;
[[nodiscard]] std::vector<std::uint64_t> spot_check(std::span<const std::uint64_t> addresses);

/// What the statuses of a query say, as long as `addresses`. With `look_for_huge` false every page
/// is a unit.
[[nodiscard]] WindowPages read_window(const MemoryRange& range,
                                      std::span<const std::uint64_t> addresses,
                                      std::span<const int> statuses, bool look_for_huge);

/// The window's first and last page of each block, and all pages that are in no whole block.
[[nodiscard]] std::vector<std::uint64_t> sample_addresses(const MemoryRange& range,
                                                          placement::Bytes offset,
                                                          placement::Bytes size);

struct SampledPages {
  std::vector<PageUnit> units;
  std::vector<std::uint64_t> blocks;  ///< of different pages, or absent: to be asked about whole
};
/// What the statuses of sample_addresses say.
[[nodiscard]] SampledPages read_sample(const MemoryRange& range,
                                       std::span<const std::uint64_t> addresses,
                                       std::span<const int> statuses);

/// First addresses of the blocks that lie whole in the window and of which all is -EFAULT: holes,
/// or huge pages that NUMA balancing has hidden.
[[nodiscard]] std::vector<std::uint64_t> unseen_blocks(const MemoryRange& range,
                                                       std::span<const std::uint64_t> addresses,
                                                       std::span<const int> statuses);

/// The pages of a block, in order.
[[nodiscard]] std::vector<std::uint64_t> pages_of_block(const MemoryRange& range,
                                                        std::uint64_t block);

/// The pages of a block that turned out to be small, without its first one.
[[nodiscard]] std::vector<PageUnit> rest_of_block(const PageUnit& block,
                                                  placement::Bytes page_size);

}  // namespace vmnuma::migration
