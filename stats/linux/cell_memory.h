// SPDX-License-Identifier: Apache-2.0
/// The nodes on which the memory of each guest NUMA cell is.
///
/// Problem: memory.numa_stat covers the VM as a whole, so a VM with cells on each other's homes
/// looks local. Approach: the cells' mappings are found by size and order
/// (placement/cell_mappings.h) and looked up in numa_maps. That walks page tables, up to 10 ms per
/// GiB of 4 KiB pages, so the more memory a VM has, the more readings are skipped before the next;
/// until then a figure that no longer fits the VM's memory as a whole is dropped.
///
/// Properties:
///  - figures come from a time when the VM's memory was distributed as it is now, give or take a
///    64th;
///  - without cells, or if they cannot be told apart, there are no figures;
///  - what could not be read is read again the next time, and is an error until it can be;
///  - otherwise the cost is at most 0.5 % of a CPU at the usual two seconds between readings.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// Per cell, per node of the topology.
using CellBytes = std::vector<std::vector<Bytes>>;

/// `maps` and `numa_maps` are the files of /proc/PID (proc(5)), read one after the other. Errors:
/// unsupported (the cells cannot be told apart), corrupt.
[[nodiscard]] Result<CellBytes> parse_cell_memory(std::string_view maps, std::string_view numa_maps,
                                                  const std::vector<GuestCell>& cells,
                                                  const Topology& topology);

/// For one process. One thread at a time.
class CellMemory {
 public:
  /// To be called at every full reading of the VM, with its memory on each node of the topology.
  /// Errors: those of reading the two files, and corrupt; there are no figures then.
  [[nodiscard]] Result<void> refresh(const files::Directory& process, const VmDescription& vm,
                                     const std::vector<Bytes>& on_nodes, const Topology& topology);
  void forget() { cells_.clear(); }
  /// Empty if not known.
  [[nodiscard]] const CellBytes& cells() const { return cells_; }

 private:
  CellBytes cells_;
  std::vector<Bytes> read_beside_;  ///< the VM's memory at that time
  std::int64_t readings_to_skip_ = 0;
};

}  // namespace vmnuma::stats
