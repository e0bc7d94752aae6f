// SPDX-License-Identifier: Apache-2.0
#include "migration/page_scan.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "migration/back_off.h"
#include "migration/pacing.h"

namespace vmnuma::migration {

namespace {

constexpr std::int64_t kMostRetryRounds = 3;
constexpr std::size_t kMostRetries = 65536;  ///< bounds memory, not work
constexpr std::int64_t kMostStuckCalls = 8;
constexpr std::int64_t kLongestProbePause = 64;
constexpr Microseconds kFirstWait{100'000};
constexpr Microseconds kLongestWait{400'000};

}  // namespace

bool is_absent(int status) {
  return status == -ENOENT || status == -EFAULT;
}

PageScan::PageScan(std::vector<PartRange> ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const PartRange& a, const PartRange& b) {
    return a.memory.length > b.memory.length;
  });
  ranges_.reserve(ranges.size());
  for (PartRange& range : ranges) {
    ranges_.emplace_back(std::move(range));
  }
}

Bytes PageScan::pool() const {
  const MemoryRange& memory = range().memory;
  return memory.hugetlb ? memory.page_size : Bytes{};
}

bool PageScan::is_last_look() const {
  return window_.is_retry() && retry_round_ > kMostRetryRounds;
}

bool PageScan::given_up() const {
  return ranges_[window_.range].stuck_calls >= kMostStuckCalls;
}

/// True if a range remains to be searched: next_range_ is that one.
bool PageScan::has_window_left() {
  while (next_range_ < ranges_.size()) {
    Range& range = ranges_[next_range_];
    if (!range.blocks_to_ask.empty() || !range.pages_to_ask.empty()) {
      return true;
    }
    const Bytes unseen = range.resident - range.seen;
    if (unseen <= Bytes{}) {
      next_offset_ = range.memory.length;  // the rest is a hole
    }
    const bool much_is_unseen =
        range.memory.huge_page_size > Bytes{} && !range.memory.shared &&
        unseen >= std::max(range.memory.huge_page_size, range.resident / kMuch);
    if (next_offset_ < range.memory.length && (!range.second_look || much_is_unseen)) {
      return true;
    }
    if (!range.second_look && much_is_unseen) {
      range.second_look = true;
    } else {
      ++next_range_;
    }
    next_offset_ = {};
  }
  return false;
}

std::optional<Microseconds> PageScan::next_window() {
  if (has_window_left()) {
    window_ = {.range = next_range_};
    take_window(ranges_[next_range_]);
    return Microseconds{};
  }
  Microseconds wait;
  if (retrying_.empty()) {
    wait = begin_retry_round();
  }
  if (retrying_.empty()) {
    return std::nullopt;
  }
  window_ = {.range = retrying_.back().range};
  take_retries();
  return wait;
}

void PageScan::take_window(Range& range) {
  if (!range.blocks_to_ask.empty()) {
    // The number of blocks that fit in a window.
    const auto most = static_cast<std::size_t>(
        std::max<std::int64_t>(kLargestChunk.value / range.memory.huge_page_size.value, 1));
    for (std::size_t i = 0; i < most && !range.blocks_to_ask.empty(); ++i) {
      const auto pages = pages_of_block(range.memory, range.blocks_to_ask.back());
      range.blocks_to_ask.pop_back();
      window_.addresses.insert(window_.addresses.end(), pages.begin(), pages.end());
    }
    return;
  }
  if (!range.pages_to_ask.empty()) {
    window_.addresses = std::exchange(range.pages_to_ask, {});
    std::sort(window_.addresses.begin(), window_.addresses.end());
    return;
  }
  const bool look_for_huge = range.windows_not_probed == 0;
  range.windows_not_probed -= look_for_huge ? 0 : 1;
  window_.look_for_huge = look_for_huge || range.second_look;
  window_.sampled = look_for_huge && range.huge_so_far && !range.second_look;
  window_.assumed = !window_.look_for_huge && range.all_pages_on.has_value();
  // A few blocks show whether a mapping's blocks are huge pages. On arm64 a block can have up to
  // 512 MiB.
  const Bytes reach =
      std::max(look_for_huge && !range.huge_so_far ? kSmallestChunk * 4 : kLargestChunk,
               range.memory.huge_page_size);
  window_.addresses = window_.sampled ? sample_addresses(range.memory, next_offset_, reach)
                                      : window_addresses(range.memory, next_offset_, reach);
  next_offset_ += window_length(range.memory, next_offset_, reach);
}

/// Returns how long to wait before the round; there may be nothing to retry.
Microseconds PageScan::begin_retry_round() {
  if (retry_.empty()) {
    return {};
  }
  const Microseconds wait = retry_round_ < kMostRetryRounds
                                ? back_off(kFirstWait, retry_round_, kLongestWait)
                                : Microseconds{};
  ++retry_round_;
  retrying_ = std::exchange(retry_, {});
  std::sort(retrying_.begin(), retrying_.end(), [](const Retry& a, const Retry& b) {
    return std::pair(b.range, b.address) < std::pair(a.range, a.address);
  });
  return wait;
}

void PageScan::take_retries() {
  const Bytes page = range().memory.page_size;
  while (!retrying_.empty() && retrying_.back().range == window_.range &&
         (window_.addresses.empty() ||
          page * static_cast<std::int64_t>(window_.addresses.size()) < kLargestChunk)) {
    window_.addresses.push_back(retrying_.back().address);
    window_.retries.push_back(retrying_.back());
    retrying_.pop_back();
  }
}

void PageScan::look_again(std::vector<Retry> retries) {
  window_ = {.range = window_.range};
  for (const Retry& retry : retries) {
    window_.addresses.push_back(retry.address);
  }
  window_.retries = std::move(retries);
}

/// True if NUMA balancing may have hidden the page: only then does an absent page have this status.
bool PageScan::may_be_hidden(int status) const {
  // In shared memory a page that never existed has this status, too, so this holds only if there
  // are no such pages.
  const bool has_no_holes = range().resident >= range().memory.length;
  return status == -ENOENT && !range().memory.hugetlb && (!range().memory.shared || has_no_holes);
}

bool PageScan::find_hidden() {
  if (window_.sampled) {
    return false;  // what was not seen is queried page by page
  }
  if (current().second_look && !window_.is_retry()) {
    window_.hidden = unseen_blocks(range().memory, window_.addresses, window_.statuses);
    window_.hidden_unit = range().memory.huge_page_size;
    window_.addresses.clear();
    window_.statuses.clear();
    for (const std::uint64_t block : window_.hidden) {
      const auto pages = pages_of_block(range().memory, block);
      window_.addresses.insert(window_.addresses.end(), pages.begin(), pages.end());
    }
  } else {
    window_.hidden_unit = range().memory.page_size;
    for (std::size_t i = 0; i < window_.statuses.size(); ++i) {
      if (may_be_hidden(window_.statuses[i])) {
        window_.hidden.push_back(window_.addresses[i]);
      }
    }
  }
  return !window_.hidden.empty();
}

std::vector<PageUnit> PageScan::read() {
  Range& range = current();
  if (window_.sampled) {
    SampledPages sample = read_sample(range.memory, window_.addresses, window_.statuses);
    for (const PageUnit& unit : sample.units) {
      range.seen += unit.size;
    }
    range.blocks_to_ask.insert(range.blocks_to_ask.end(), sample.blocks.begin(),
                               sample.blocks.end());
    return std::move(sample.units);
  }
  std::vector<PageUnit> units =
      read_window(range.memory, window_.addresses, window_.statuses, window_.look_for_huge);
  for (PageUnit& unit : units) {
    unit.assumed = window_.assumed;
    range.seen += window_.is_retry() ? Bytes{} : unit.size;
  }
  return units;
}

void PageScan::ask_again(const PageUnit& unit) {
  Range& range = current();
  range.seen -= unit.size;  // it is seen again then
  (unit.assumed ? range.pages_to_ask : range.blocks_to_ask).push_back(unit.address);
}

bool PageScan::try_later(const PageUnit& unit, Leftover reason) {
  if (retry_.size() >= kMostRetries) {
    return false;
  }
  retry_.push_back({window_.range, unit.address, unit.from, reason});
  return true;
}

void PageScan::record_blocks(std::int64_t whole, std::int64_t small) {
  Range& range = current();
  if (whole > 0) {
    range.probe_pause = 1;
    range.huge_so_far = small == 0;
  } else if (small > 0) {
    range.huge_so_far = false;
    range.windows_not_probed = range.probe_pause;
    range.probe_pause = std::min(range.probe_pause * 2, kLongestProbePause);
  }
}

void PageScan::record_call(Bytes moved, bool in_vain) {
  std::int64_t& stuck = current().stuck_calls;
  if (moved > Bytes{}) {
    stuck = 0;
  } else if (in_vain) {
    ++stuck;
  }
}

}  // namespace vmnuma::migration
