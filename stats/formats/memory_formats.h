// SPDX-License-Identifier: Apache-2.0
/// Parses the files about the state of a cgroup's memory and what its tasks wait for (Linux 6.1,
/// mm/memcontrol.c, kernel/sched/psi.c, fs/proc/base.c). Pure functions of the text.
///
/// Properties: as in proc_formats.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma::stats {

/// memory.min, memory.low, memory.high, memory.max and memory.swap.max: a number of bytes, or
/// "max", returned as nothing. Error: corrupt.
[[nodiscard]] Result<std::optional<Bytes>> parse_memory_limit(std::string_view text);

/// memory.swap.current: a number of bytes. Error: corrupt.
[[nodiscard]] Result<Bytes> parse_memory_amount(std::string_view text);

/// Lines of memory.stat.
struct MemoryStat {
  Bytes anonymous;    ///< anon
  Bytes file;         ///< file, including shmem
  Bytes shared;       ///< shmem
  Bytes unevictable;  ///< unevictable
  /// anon_thp and shmem_thp (since Linux 5.11); nothing on a kernel without huge pages.
  std::optional<Bytes> huge = {};
  bool operator==(const MemoryStat&) const = default;
};
/// Error: corrupt, even if only one of the other lines is missing.
[[nodiscard]] Result<MemoryStat> parse_memory_stat(std::string_view text);

/// The 10 s averages of memory.pressure.
struct MemoryWaits {
  Permille some;
  Permille full;
  bool operator==(const MemoryWaits&) const = default;
};
/// Rounded down to thousandths. Error: corrupt.
[[nodiscard]] Result<MemoryWaits> parse_memory_waits(std::string_view text);

/// The same for /proc/pressure/memory, which covers all tasks of the host; only `some`. Error:
/// corrupt.
[[nodiscard]] Result<Permille> parse_memory_pressure(std::string_view text);

/// The 10 s average of cpu.pressure: the share of the time in which some task was runnable and
/// waited for a CPU. The line `full` exists since Linux 5.13. Rounded down to thousandths. Error:
/// corrupt.
[[nodiscard]] Result<Permille> parse_cpu_waits(std::string_view text);

/// /proc/PID/oom_score_adj: -1000 to 1000. Error: corrupt.
[[nodiscard]] Result<std::int32_t> parse_oom_score_adj(std::string_view text);

/// /proc/meminfo (Linux 6.1, fs/proc/meminfo.c), line "SwapTotal:        999420 kB". Error:
/// corrupt.
[[nodiscard]] Result<Bytes> parse_swap_total(std::string_view meminfo);

/// The same file, line "Hugepagesize: 2048 kB" (mm/hugetlb.c): the default huge page size. Zero on
/// a kernel without huge pages. Error: corrupt.
[[nodiscard]] Result<Bytes> parse_default_huge_page_size(std::string_view meminfo);

/// /proc/self/mountinfo (proc(5)): whether the cgroup2 file system mounted at /sys/fs/cgroup has
/// the option memory_recursiveprot. Nothing if none is mounted there.
[[nodiscard]] std::optional<bool> has_recursive_protection(std::string_view mountinfo);

}  // namespace vmnuma::stats
