// SPDX-License-Identifier: Apache-2.0
#include "migration/page_window.h"

#include <algorithm>
#include <cerrno>

namespace vmnuma::migration {

namespace {

std::uint64_t unsigned_of(Bytes bytes) {
  return static_cast<std::uint64_t>(bytes.value);
}

/// True if the pages from `first` on form one whole block with the same status.
bool is_uniform_block(const MemoryRange& range, std::span<const std::uint64_t> addresses,
                      std::span<const int> statuses, std::size_t first) {
  if (range.huge_page_size <= range.page_size ||
      addresses[first] % unsigned_of(range.huge_page_size) != 0) {
    return false;
  }
  const auto pages = static_cast<std::size_t>(range.huge_page_size.value / range.page_size.value);
  if (statuses.size() - first < pages) {
    return false;
  }
  const auto block = statuses.subspan(first, pages);
  return addresses[first + pages - 1] - addresses[first] ==
             (pages - 1) * unsigned_of(range.page_size) &&
         std::all_of(block.begin(), block.end(), [&](int status) { return status == block[0]; });
}

}  // namespace

Bytes window_length(const MemoryRange& range, Bytes offset, Bytes size) {
  const std::uint64_t page = unsigned_of(range.page_size);
  const std::uint64_t begin = range.start + unsigned_of(offset);
  const std::uint64_t range_end = range.start + unsigned_of(range.length);
  std::uint64_t end = std::min(range_end, begin + std::max(unsigned_of(size), page));
  if (end < range_end && range.huge_page_size > Bytes{}) {
    const std::uint64_t border = end - end % unsigned_of(range.huge_page_size);
    end = border > begin ? border : end;
  }
  return {static_cast<std::int64_t>((end - begin) / page * page)};
}

std::vector<std::uint64_t> window_addresses(const MemoryRange& range, Bytes offset, Bytes size) {
  std::vector<std::uint64_t> addresses;
  const std::uint64_t page = unsigned_of(range.page_size);
  const std::uint64_t begin = range.start + unsigned_of(offset);
  const std::uint64_t end = begin + unsigned_of(window_length(range, offset, size));
  for (std::uint64_t address = begin; address < end; address += page) {
    addresses.push_back(address);
  }
  return addresses;
}

std::vector<std::uint64_t> sample_addresses(const MemoryRange& range, Bytes offset, Bytes size) {
  std::vector<std::uint64_t> addresses;
  const std::uint64_t page = unsigned_of(range.page_size);
  const std::uint64_t block = unsigned_of(range.huge_page_size);
  const std::uint64_t begin = range.start + unsigned_of(offset);
  const std::uint64_t end = begin + unsigned_of(window_length(range, offset, size));
  for (std::uint64_t address = begin; address < end;) {
    const bool whole = block > page && address % block == 0 && end - address >= block;
    addresses.push_back(address);
    if (whole) {
      addresses.push_back(address + block - page);
    }
    address += whole ? block : page;
  }
  return addresses;
}

std::vector<std::uint64_t> spot_check(std::span<const std::uint64_t> addresses) {
  std::vector<std::uint64_t> some;
  for (std::size_t i = 0; i < addresses.size(); i += kSpotCheckApart) {
    some.push_back(addresses[i]);
  }
  return some;
}

SampledPages read_sample(const MemoryRange& range, std::span<const std::uint64_t> addresses,
                         std::span<const int> statuses) {
  SampledPages pages;
  const std::uint64_t block = unsigned_of(range.huge_page_size);
  const std::uint64_t to_last = block - unsigned_of(range.page_size);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const bool ends_follow = addresses[i] % block == 0 && i + 1 < addresses.size() &&
                             addresses[i + 1] - addresses[i] == to_last;
    const int status = statuses[i];
    if (ends_follow) {
      ++i;
      if (status >= 0 && statuses[i] == status) {
        pages.units.push_back({.address = addresses[i - 1],
                               .size = range.huge_page_size,
                               .from = NodeId{status},
                               .to = {},
                               .may_be_huge = true,
                               .sampled = true});
      } else {
        pages.blocks.push_back(addresses[i - 1]);
      }
    } else if (status >= 0) {
      pages.units.push_back({.address = addresses[i],
                             .size = range.page_size,
                             .from = NodeId{status},
                             .to = {},
                             .may_be_huge = false});
    }
  }
  return pages;
}

std::vector<PageUnit> read_window(const MemoryRange& range,
                                  std::span<const std::uint64_t> addresses,
                                  std::span<const int> statuses, bool look_for_huge) {
  std::vector<PageUnit> units;
  std::size_t i = 0;
  while (i < addresses.size()) {
    if (statuses[i] < 0) {
      ++i;
      continue;
    }
    const bool block = look_for_huge && is_uniform_block(range, addresses, statuses, i);
    const Bytes size = block ? range.huge_page_size : range.page_size;
    units.push_back({.address = addresses[i],
                     .size = size,
                     .from = NodeId{statuses[i]},
                     .to = {},
                     .may_be_huge = block});
    i += static_cast<std::size_t>(size.value / range.page_size.value);
  }
  return units;
}

std::vector<std::uint64_t> unseen_blocks(const MemoryRange& range,
                                         std::span<const std::uint64_t> addresses,
                                         std::span<const int> statuses) {
  std::vector<std::uint64_t> blocks;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (statuses[i] == -EFAULT && is_uniform_block(range, addresses, statuses, i)) {
      blocks.push_back(addresses[i]);
    }
  }
  return blocks;
}

std::vector<std::uint64_t> pages_of_block(const MemoryRange& range, std::uint64_t block) {
  std::vector<std::uint64_t> pages;
  for (std::uint64_t offset = 0; offset < unsigned_of(range.huge_page_size);
       offset += unsigned_of(range.page_size)) {
    pages.push_back(block + offset);
  }
  return pages;
}

std::vector<PageUnit> rest_of_block(const PageUnit& block, Bytes page_size) {
  std::vector<PageUnit> pages;
  const std::uint64_t page = unsigned_of(page_size);
  for (std::uint64_t offset = page; offset + page <= unsigned_of(block.size); offset += page) {
    pages.push_back({.address = block.address + offset,
                     .size = page_size,
                     .from = block.from,
                     .to = block.to,
                     .may_be_huge = false});
  }
  return pages;
}

}  // namespace vmnuma::migration
