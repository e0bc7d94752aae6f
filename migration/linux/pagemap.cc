// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/pagemap.h"

#include <algorithm>
#include <cstring>

#include <unistd.h>

namespace vmnuma::migration {

namespace {

constexpr std::size_t kEntry = sizeof(std::uint64_t);
constexpr std::uint64_t kInMemory = std::uint64_t{1} << 63U;

}  // namespace

std::vector<bool> parse_pagemap(std::string_view entries) {
  std::vector<bool> in_memory;
  in_memory.reserve(entries.size() / kEntry);
  for (; entries.size() >= kEntry; entries.remove_prefix(kEntry)) {
    std::uint64_t entry = 0;
    std::memcpy(&entry, entries.data(), kEntry);
    in_memory.push_back((entry & kInMemory) != 0);
  }
  return in_memory;
}

Result<std::vector<std::uint64_t>> pages_in_memory(const Folder& process,
                                                   std::span<const std::uint64_t> addresses) {
  // One read for pages that are not far apart; a window of a transfer is at most this long.
  constexpr std::uint64_t kMostPages = 8192;
  const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<std::uint64_t> found;
  while (!addresses.empty()) {
    const std::uint64_t first = addresses.front() / page_size;
    const auto end = std::find_if(addresses.begin(), addresses.end(), [&](std::uint64_t address) {
      return address / page_size - first >= kMostPages;
    });
    const std::uint64_t pages = *std::prev(end) / page_size - first + 1;
    const auto text = process.read_at("pagemap", first * kEntry, pages * kEntry);
    if (!text) {
      return tl::unexpected(text.error());
    }
    const std::vector<bool> in_memory = parse_pagemap(*text);
    for (auto address = addresses.begin(); address != end; ++address) {
      const std::uint64_t page = *address / page_size - first;
      if (page < in_memory.size() && in_memory[page]) {
        found.push_back(*address);
      }
    }
    addresses = addresses.subspan(static_cast<std::size_t>(end - addresses.begin()));
  }
  return found;
}

}  // namespace vmnuma::migration
