// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/movable_ranges.h"

#include <algorithm>
#include <string_view>

namespace vmnuma::migration {

using stats::Mapping;
using stats::NumaMapping;

namespace {

/// The files do not show the page size of a mapping without pages.
constexpr Bytes kSmallestPage = kKiB * 4;

bool is_memory_file(std::string_view path) {
  for (const std::string_view prefix : {"/memfd:", "/dev/shm/", "/dev/zero", "/SYSV"}) {
    if (path.starts_with(prefix)) {
      return true;
    }
  }
  return false;
}

/// True for relocated and written data of programs and libraries: mapped from a file, but private
/// to the process, and counted as its memory by memory.numa_stat. The few pages of the file itself
/// among them are shared with other processes and stay.
bool is_mostly_own(const NumaMapping& pages) {
  return pages.anonymous * 2 >= sum_of(pages.memory, &NodeBytes::bytes);
}

bool holds_own_memory(const Mapping& mapping, const NumaMapping& pages) {
  const std::string_view name = mapping.name;
  if (pages.huge || name.empty() || name == "[heap]" || name.starts_with("[stack") ||
      name.starts_with("[anon")) {
    return true;
  }
  if (name.starts_with('/') && !mapping.shared) {
    return is_mostly_own(pages);
  }
  if (name.starts_with('[') || !mapping.shared || !mapping.writable) {
    return false;
  }
  return is_memory_file(name) ||
         (name.starts_with('/') && !name.starts_with("/dev/") && !name.starts_with("/["));
}

}  // namespace

std::vector<MemoryRange> movable_ranges(const std::vector<Mapping>& mappings,
                                        const std::vector<NumaMapping>& pages,
                                        Bytes huge_page_size) {
  std::vector<MemoryRange> ranges;
  auto mapping = mappings.begin();
  for (const NumaMapping& resident : pages) {
    mapping = std::find_if(mapping, mappings.end(), [&](const Mapping& candidate) {
      return candidate.start >= resident.start;
    });
    if (mapping == mappings.end()) {
      break;
    }
    const bool only_addresses = resident.memory.empty() && !mapping->writable;
    if (mapping->start != resident.start || only_addresses ||
        !holds_own_memory(*mapping, resident)) {
      continue;
    }
    const bool own_policy = resident.policy == "default" || resident.policy == "local";
    ranges.push_back({.start = mapping->start,
                      .length = {static_cast<std::int64_t>(mapping->end - mapping->start)},
                      .page_size = std::max(resident.page_size, kSmallestPage),
                      .huge_page_size = resident.huge ? Bytes{} : huge_page_size,
                      .hugetlb = resident.huge,
                      .shared = mapping->shared,
                      .policy = std::string(own_policy ? "" : resident.policy),
                      .resident = resident.memory});
  }
  return ranges;
}

}  // namespace vmnuma::migration
