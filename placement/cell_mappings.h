// SPDX-License-Identifier: Apache-2.0
/// Finds which mapping of a QEMU process holds which guest NUMA cell's memory.
///
/// Problem: a VM's memory is one address space, but the memory of a guest cell belongs near the
/// vCPUs of that cell, and nothing in /proc says which mapping is which cell. Approach: libvirt
/// gives every cell a memory backend of its own, in the order of the cells, and QEMU maps each in
/// one piece of exactly the cell's size (QEMU 7.2, softmmu/physmem.c, qemu_ram_mmap(); seen with
/// anonymous memory, memfd and huge pages, preallocated or not). So mappings are identified by
/// their size, and those of equal size by their order: the kernel puts a new mapping into the
/// highest gap that fits (mm/mmap.c, arch_get_unmapped_area_topdown()), so a later one of the same
/// size lies below an earlier one.
///
/// Properties:
///  - either every cell with memory gets one mapping and no mapping gets two cells, or there is no
///    answer;
///  - the order of `mappings` does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"

namespace vmnuma {

struct MappedMemory {
  std::uint64_t start = 0;
  Bytes length;
};

/// Returns the index of each cell's mapping; kNoMapping for a cell without memory. `cells` are the
/// sizes in ascending order of cells. Error: unsupported if it is ambiguous, because there are not
/// as many mappings of a size as cells: "1 GiB: 3 mappings for 2 guest NUMA cells".
inline constexpr std::size_t kNoMapping = static_cast<std::size_t>(-1);
[[nodiscard]] Result<std::vector<std::size_t>> mappings_of_cells(
    const std::vector<Bytes>& cells, const std::vector<MappedMemory>& mappings);

}  // namespace vmnuma
