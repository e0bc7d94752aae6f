// SPDX-License-Identifier: Apache-2.0
/// /proc/PID/numa_maps (Linux 6.1, fs/proc/task_mmu.c, show_numa_map): where each mapping's pages
/// are.
///
/// Problem: huge pages of hugetlbfs appear in no cgroup file, so for a VM backed by them this is
/// the only source; and page moves need to know which mapping a page belongs to. Reading the file
/// needs CAP_SYS_PTRACE and walks the page tables: 1 ms for 4 GiB of huge pages, 33 ms for 4 KiB
/// ones. Approach: parse each line to a value, and sum up the mappings that are guest memory.
///
/// Terms. A line is "ADDRESS POLICY [file=PATH|heap|stack|huge] anon=... N0=PAGES N1=PAGES
/// kernelpagesize_kB=SIZE"; pages are counted in that size, and transparent huge pages in units of
/// 4 KiB. A mapping without pages ends after its kind.
///
/// Properties:
///  - as in proc_formats.h, except that unknown words, which a later kernel may add, are skipped;
///  - the sum counts hugetlb pages at their own size;
///  - program text and libraries are not guest memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/node_bytes.h"

namespace vmnuma::stats {

struct NumaMapping {
  std::uint64_t start = 0;  ///< first address
  std::string_view policy;  ///< "default", "bind:0-1", "prefer (many):2", points into the text
  std::string_view
      file;  ///< the path with blanks as \040, empty if there is none; points into the text
  bool huge = false;              ///< hugetlbfs
  Bytes page_size;                ///< zero if there are no pages
  Bytes anonymous;                ///< private pages; of a file mapping, those written to
  std::vector<NodeBytes> memory;  ///< in the line's order, which is ascending
};

/// Parses one line, without its newline.
[[nodiscard]] Result<NumaMapping> parse_numa_map(std::string_view line);

/// Parses all lines; the mappings point into the text. Error: corrupt, even for an empty file.
[[nodiscard]] Result<std::vector<NumaMapping>> parse_numa_maps(std::string_view text);

/// Sums up the mappings that can be guest memory: hugetlb, no file, memfd, shared anonymous and
/// /dev/shm. By node, ascending; nodes without memory are left out. RAM in a file on a disk's file
/// system (<memoryBacking><source type='file'/> outside hugetlbfs and /dev/shm) cannot be
/// distinguished from any other mapped file and is not counted.
[[nodiscard]] Result<std::vector<NodeBytes>> sum_guest_memory(std::string_view numa_maps);

}  // namespace vmnuma::stats
