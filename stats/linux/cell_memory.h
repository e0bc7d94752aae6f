// SPDX-License-Identifier: Apache-2.0
/// On which nodes the memory of each guest NUMA cell is.
///
/// Problem: memory.numa_stat tells it for the VM as a whole, so that a VM looks local whose cells
/// lie on each other's homes. Approach: the cells' mappings are found by size and order
/// (placement/cell_mappings.h) and looked up in numa_maps. That walks page tables, up to 10 ms per
/// GiB of 4 KiB pages, so the more memory a VM has the more readings pass until the next; a figure
/// that no longer fits the VM's memory as a whole is forgotten until then.
///
/// Properties:
///  - what is told is of a time at which the VM's memory lay as it does now, give or take a 64th;
///  - without cells, or where they cannot be told apart, nothing is told;
///  - the cost is at most 0.5 % of a CPU at the usual two seconds between readings.
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
using CellBytes = std::vector<std::vector<placement::Bytes>>;

/// `maps` and `numa_maps` are those files of /proc/PID (proc(5)), read one after the other. Errors:
/// unsupported (the cells cannot be told apart), corrupt.
[[nodiscard]] Result<CellBytes> parse_cell_memory(std::string_view maps, std::string_view numa_maps,
                                                  const std::vector<placement::GuestCell>& cells,
                                                  const placement::Topology& topology);

/// Of one process. One thread at a time.
class CellMemory {
 public:
  /// At every full reading of the VM, with what it has on each node of the topology. Errors: those
  /// of reading the two files, and corrupt. Then nothing is told.
  [[nodiscard]] Result<void> refresh(const files::Directory& process,
                                     const placement::VmDescription& vm,
                                     const std::vector<placement::Bytes>& on_nodes,
                                     const placement::Topology& topology);
  void forget() { cells_.clear(); }
  /// Empty if it is not known.
  [[nodiscard]] const CellBytes& cells() const { return cells_; }

 private:
  CellBytes cells_;
  std::vector<placement::Bytes> read_beside_;  ///< the VM's memory at that time
  std::int64_t readings_to_skip_ = 0;
};

}  // namespace vmnuma::stats
