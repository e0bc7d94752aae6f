// SPDX-License-Identifier: Apache-2.0
/// /proc/PID/maps (Linux 6.1, fs/proc/task_mmu.c, show_map_vma()): the mappings of a process. Pure
/// functions of the text.
///
/// Properties: as in proc_formats.h, except that the text may be empty, as it is for an exiting
/// process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/result.h"

namespace vmnuma::stats {

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

/// Returns whether /proc/PID/status has swapped pages: whether the line "VmSwap: 0 kB" has a value
/// above zero. False if there is no such line (a kernel without swap).
[[nodiscard]] bool has_swapped_pages(std::string_view status);

}  // namespace vmnuma::stats
