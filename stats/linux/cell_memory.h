// SPDX-License-Identifier: Apache-2.0
/// Finds the nodes on which the memory of each guest NUMA cell is.
///
/// Problem: memory.numa_stat covers the VM as a whole, so a VM whose cells are on each other's home
/// nodes looks local. Approach: the cells' mappings are found by size and order
/// (placement/cell_mappings.h) and looked up in numa_maps. numa_maps walks page tables, which takes
/// up to 10 ms per GiB of 4 KiB pages, so the more memory a VM has, the more readings are skipped
/// before the next one. In between, figures are dropped if they no longer match the memory of the
/// VM as a whole.
///
/// Properties:
///  - figures come from a time when the VM's memory was distributed as it is now, give or take a
///    64th;
///  - without cells, or if they cannot be told apart, there are no figures;
///  - what could not be read is tried again at the next reading, and is an error until it succeeds;
///  - apart from that, the cost is at most 0.5 % of a CPU at the usual two seconds between
///    readings.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/topology.h"
#include "stats/files/directory.h"

namespace vmnuma::stats {

/// By cell, then by node of the topology.
using CellBytes = std::vector<std::vector<Bytes>>;

/// Sums up the memory of each cell. `maps` and `numa_maps` are the texts of the files in /proc/PID
/// (proc(5)), read one after the other. Errors: unsupported (the cells cannot be told apart),
/// corrupt.
[[nodiscard]] Result<CellBytes> parse_cell_memory(std::string_view maps, std::string_view numa_maps,
                                                  const std::vector<GuestCell>& cells,
                                                  const Topology& topology);

/// For one process. One thread at a time.
class CellMemory {
 public:
  /// Call at every full reading of the VM, with its memory on each node of the topology. Errors:
  /// those of reading the two files, and corrupt; there are then no figures.
  [[nodiscard]] Result<void> refresh(const files::Directory& process, const VmDescription& vm,
                                     const std::vector<Bytes>& on_nodes, const Topology& topology);
  void forget() { cells_.clear(); }
  /// Empty if unknown.
  [[nodiscard]] const CellBytes& cells() const { return cells_; }

 private:
  CellBytes cells_;
  std::vector<Bytes> read_beside_;  ///< the VM's memory when the cells were read
  std::int64_t readings_to_skip_ = 0;
};

}  // namespace vmnuma::stats
