// SPDX-License-Identifier: Apache-2.0
/// Which mappings of a process hold memory of its own.
///
/// Problem: a VM's memory is the guest's RAM (anonymous, memfd, hugetlb or a file) and what QEMU
/// itself has allocated or written: heap, stacks, translation buffers, relocated data of libraries.
/// All of it counts in memory.numa_stat, so all of it is moved. Program text belongs to every
/// process that runs it, and devices' mappings are not memory at all. Approach: maps says what a
/// mapping is, numa_maps what lies in it; they are joined by their first address. Rules: anonymous
/// mappings and hugetlb always; a private mapping of a file if at least half of its pages have been
/// written and so are the process's own; a shared one only if it is writable, which guest RAM in a
/// file is and a library never, and is no device and no object of the kernel's own ("anon_inode:",
/// "/[aio]").
///
/// Properties:
///  - a mapping that is in only one of the two files (it came or went between the reads) is left
///    out;
///  - so are mappings without pages that cannot be written to, which only hold addresses;
///  - ranges come in ascending order and do not overlap.
#pragma once

#include <vector>

#include "migration/page_mover.h"
#include "stats/formats/maps.h"
#include "stats/formats/numa_maps.h"

namespace vmnuma::migration {

/// `huge_page_size`: of transparent huge pages on this host, zero without them.
[[nodiscard]] std::vector<MemoryRange> movable_ranges(const std::vector<stats::Mapping>& mappings,
                                                      const std::vector<stats::NumaMapping>& pages,
                                                      placement::Bytes huge_page_size);

}  // namespace vmnuma::migration
