// SPDX-License-Identifier: Apache-2.0
/// Which mappings of a process hold memory of its own.
///
/// Problem: a VM's memory is the guest's RAM (anonymous, memfd, hugetlb or a file) and what QEMU
/// itself has allocated or written: heap, stacks, translation buffers, relocated data of libraries.
/// All of it counts in memory.numa_stat, so all of it is moved. Program text belongs to every
/// process that runs it, and device mappings are not memory at all. Approach: join maps, which
/// describes each mapping, and numa_maps, which describes its contents, by start address. Rules:
/// anonymous mappings and hugetlb always; a private file mapping if at least half of its pages have
/// been written and so belong to the process; a shared one only if it is writable, as guest RAM in
/// a file is and a library never is, and is neither a device nor a kernel object ("anon_inode:",
/// "/[aio]").
///
/// Properties:
///  - a mapping that is in only one of the two files (it came or went between the reads) is left
///    out;
///  - so are unwritable mappings without pages, which only reserve addresses;
///  - ranges are returned in ascending order and do not overlap.
#pragma once

#include <vector>

#include "migration/page_mover.h"
#include "stats/formats/maps.h"
#include "stats/formats/numa_maps.h"

namespace vmnuma::migration {

/// `huge_page_size` is that of this host's transparent huge pages; zero without them.
[[nodiscard]] std::vector<MemoryRange> movable_ranges(const std::vector<stats::Mapping>& mappings,
                                                      const std::vector<stats::NumaMapping>& pages,
                                                      Bytes huge_page_size);

}  // namespace vmnuma::migration
