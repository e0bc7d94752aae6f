// SPDX-License-Identifier: Apache-2.0
/// Finds out from hwloc which CPUs share a core, a last-level cache and a package.
///
/// hwloc knows the many ways in which kernels and firmware describe this. It is not used for NUMA
/// nodes: hwloc 2.9 has no object for a memoryless node.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "placement/base/result.h"
#include "placement/model/ids.h"

namespace vmnuma::stats {

/// A CPU's place. Cores and caches are named by their lowest CPU, so the names do not depend on
/// other hardware.
struct CpuPlace {
  std::int32_t core = 0;
  std::int32_t last_level_cache = 0;  ///< the package's if no cache is known
  std::int32_t package =
      0;  ///< the kernel's physical_package_id; the lowest CPU in it if that is unknown
  bool operator==(const CpuPlace&) const = default;
};

/// Returns the places of all online CPUs. `root` is the host's root directory. hwloc takes a root
/// only from the environment variable HWLOC_FSROOT, so if the root is not "/", no other thread may
/// use the environment during the call. On a live host the environment is not changed. Errors:
/// unsupported or io (hwloc cannot make a topology from what it finds).
[[nodiscard]] Result<std::map<CpuId, CpuPlace>> read_cpu_places(const std::string& root);

}  // namespace vmnuma::stats
