// SPDX-License-Identifier: Apache-2.0
/// The formats of /proc/PID/maps, numa_maps and stat (Linux 6.1, fs/proc/task_mmu.c and array.c).
/// Pure functions.
///
/// Only what page moves need is read. Properties: a line that is not of the format is an error that
/// quotes it; words that a later kernel may add are passed over; nothing is guessed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "migration/page_mover.h"
#include "placement/base/result.h"

namespace vmnuma::migration {

/// "7f8333fff000-7f8337fff000 rw-s 00000000 00:01 31    /memfd:ram (deleted)"
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool writable = false;
  bool shared = false;
  std::string name;  ///< path or "[heap]", empty for anonymous memory
  bool operator==(const Mapping&) const = default;
};
[[nodiscard]] Result<std::vector<Mapping>> parse_maps(std::string_view text);

/// "7f684be00000 bind:0 anon=16384 dirty=16384 N0=16384 kernelpagesize_kB=4"; a mapping without
/// pages ends after its kind. Transparent huge pages count as so many pages of 4 KiB.
struct MappingPages {
  std::uint64_t start = 0;
  std::string policy;  ///< as written, "default", "bind:0-1", "prefer (many):2"
  bool hugetlb = false;
  placement::Bytes page_size;  ///< zero if it has no pages
  placement::Bytes anonymous;  ///< its own pages: of a file's mapping, those that were written
  std::vector<NodeBytes> resident;
  bool operator==(const MappingPages&) const = default;
};
[[nodiscard]] Result<std::vector<MappingPages>> parse_numa_maps(std::string_view text);

/// Of /proc/PID/status: whether the line "VmSwap:	       0 kB" says more than nothing. False
/// without such a line (a kernel without swap).
[[nodiscard]] bool has_swapped_pages(std::string_view status);

/// Of /proc/PID/stat: "PID (COMMAND) STATE ...", field 22 is the start time. The command may hold
/// any byte.
struct ProcessStat {
  char state = 0;  ///< 'Z' and 'X': it has ended
  std::uint64_t start_time_ticks = 0;
};
[[nodiscard]] Result<ProcessStat> parse_process_stat(std::string_view text);

}  // namespace vmnuma::migration
