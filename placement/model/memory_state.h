// SPDX-License-Identifier: Apache-2.0
/// The state of a VM's memory in the kernel: what it uses, what protects it and what limits it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/model/amounts.h"

namespace vmnuma {

/// The settings of a cgroup's memory controller (Linux 6.1,
/// Documentation/admin-guide/cgroup-v2.rst, "Memory Interface Files"). Nothing = "max": no limit.
struct MemoryLimits {
  Bytes min;                      ///< never reclaimed below this; the OOM killer acts first
  Bytes low;                      ///< not reclaimed below this while there is other memory to take
  std::optional<Bytes> high;      ///< above this its tasks have to give memory back
  std::optional<Bytes> max;       ///< above this it is killed
  std::optional<Bytes> swap_max;  ///< most of it that may be in swap
  bool operator==(const MemoryLimits&) const = default;
};

struct MemoryState {
  std::string scope;         ///< its cgroup, "machine.slice/machine-qemu\x2d3\x2dweb1.scope"
  std::int64_t read_in = 0;  ///< Sample::sequence of this reading
  MemoryLimits limits;       ///< in force
  Bytes anonymous;           ///< private
  Bytes shared;              ///< of memfd and the like; not part of `file` here
  Bytes file;                ///< page cache of its disk images
  Bytes unevictable;         ///< the part of all these that is locked
  Bytes swap;
  /// Part of `anonymous` and `shared` that is on transparent huge pages; decides nothing. Absent
  /// where the kernel has none.
  std::optional<Bytes> huge = {};
  /// Share of the last 10 s in which some task of it, or all, waited for memory. Absent where the
  /// kernel does not report it.
  std::optional<Permille> waits_some;
  std::optional<Permille> waits_full;
  std::int32_t oom_score_adj = 0;  ///< -1000 (never killed) to 1000
  bool operator==(const MemoryState&) const = default;
};

/// A systemd slice that contains VMs' scopes.
struct SliceMemory {
  std::string path;  ///< "machine.slice", "machine.slice/machine-prod.slice"
  MemoryLimits limits;
  bool operator==(const SliceMemory&) const = default;
};

/// Returns the cgroups above this one whose names end in ".slice", outermost first: "machine.slice"
/// and "machine.slice/machine-prod.slice" of "machine.slice/machine-prod.slice/....scope".
[[nodiscard]] std::vector<std::string> slices_above(std::string_view scope);

/// Returns the last part of a cgroup's path, the name of its systemd unit.
[[nodiscard]] std::string_view unit_of(std::string_view path);

}  // namespace vmnuma
