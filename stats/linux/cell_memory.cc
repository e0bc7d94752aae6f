// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/cell_memory.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "placement/base/mapped.h"
#include "placement/cell_mappings.h"
#include "stats/formats/fields.h"
#include "stats/formats/maps.h"
#include "stats/formats/numa_maps.h"

namespace vmnuma::stats {
namespace {

/// Returns the writable mappings.
Result<std::vector<MappedMemory>> writable_mappings(std::string_view maps) {
  VMNUMA_RETURN_IF_ERROR(check_complete(maps, "maps"));
  return parse_maps(maps).map([](const std::vector<Mapping>& mappings) {
    std::vector<MappedMemory> writable;
    for (const Mapping& mapping : mappings) {
      if (mapping.writable) {
        writable.push_back(
            {mapping.start, Bytes{static_cast<std::int64_t>(mapping.end - mapping.start)}});
      }
    }
    return writable;
  });
}

}  // namespace

Result<CellBytes> parse_cell_memory(std::string_view maps, std::string_view numa_maps,
                                    const std::vector<GuestCell>& cells, const Topology& topology) {
  VMNUMA_ASSIGN_OR_RETURN(const auto mappings, writable_mappings(maps));
  std::vector<Bytes> sizes = mapped(cells, &GuestCell::memory);
  VMNUMA_ASSIGN_OR_RETURN(const auto mapping_of, mappings_of_cells(sizes, mappings));
  std::map<std::uint64_t, std::size_t> cell_at;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    if (mapping_of[cell] != kNoMapping) {
      cell_at[mappings[mapping_of[cell]].start] = cell;
    }
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto pages, parse_numa_maps(numa_maps));
  CellBytes memory(cells.size(), std::vector<Bytes>(topology.nodes.size()));
  for (const NumaMapping& mapping : pages) {
    const auto cell = cell_at.find(mapping.start);
    if (cell == cell_at.end()) {
      continue;
    }
    for (const NodeBytes& part : mapping.memory) {
      if (const auto node = topology.index_of(part.node)) {
        memory[cell->second][*node] += part.bytes;
      }
    }
  }
  return memory;
}

Result<void> CellMemory::refresh(const files::Directory& process, const VmDescription& vm,
                                 const std::vector<Bytes>& on_nodes, const Topology& topology) {
  constexpr std::int64_t kParts = 64;
  if (vm.cells.size() < 2) {
    cells_.clear();
    return {};
  }
  const Bytes all = std::accumulate(on_nodes.begin(), on_nodes.end(), Bytes{});
  if (!cells_.empty()) {
    Bytes most;
    for (std::size_t node = 0; node < on_nodes.size(); ++node) {
      const Bytes change = on_nodes[node] - read_beside_[node];
      most = std::max({most, change, -change});
    }
    if (most > all / kParts) {
      cells_.clear();
    }
  }
  if (readings_to_skip_ > 0) {
    --readings_to_skip_;
    return {};
  }
  cells_.clear();
  VMNUMA_ASSIGN_OR_RETURN(const auto maps, process.read("maps"));
  VMNUMA_ASSIGN_OR_RETURN(const auto numa_maps, process.read("numa_maps"));
  auto read = parse_cell_memory(maps, numa_maps, vm.cells, topology);
  if (!read && read.error().code != ErrorCode::kUnsupported) {
    return failure(std::move(read).error(), "while reading '" + process.path_of("numa_maps") + "'");
  }
  readings_to_skip_ = all.value / kGiB.value;
  if (read) {
    cells_ = std::move(*read);
    read_beside_ = on_nodes;
  }
  return {};
}

}  // namespace vmnuma::stats
