// SPDX-License-Identifier: Apache-2.0
#include "migration/memory_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "placement/base/mapped.h"
#include "placement/cell_mappings.h"

namespace vmnuma::migration {

MemoryParts::Survey MemoryParts::take(std::vector<MemoryRange> found) {
  const std::vector<std::size_t> parts = parts_of(found);
  std::vector<std::map<NodeId, Bytes>> resident(change_.cells.size() + 1);
  Survey survey;
  for (std::size_t i = 0; i < found.size(); ++i) {
    MemoryRange& memory = found[i];
    const bool movable = memory.policy.empty();
    Bytes elsewhere;
    Bytes all;
    for (const NodeBytes& on_node : memory.resident) {
      all += on_node.bytes;
      elsewhere += is_home(parts[i], on_node.node) ? Bytes{} : on_node.bytes;
      if (movable) {
        resident[parts[i]][on_node.node] += on_node.bytes;
      }
    }
    survey.total += all;
    const bool is_shared_out = parts[i] == 0 && change_.quotas.size() > 1 && all > Bytes{};
    if (!movable) {
      survey.bound_by_policy += elsewhere;
    } else if (elsewhere > Bytes{} || is_shared_out) {
      survey.ranges.push_back({std::move(memory), parts[i], all, std::nullopt});
      survey.ranges.back().all_pages_on = all_pages_on(survey.ranges.back());
    }
  }
  parts_.clear();
  for (std::size_t part = 0; part < resident.size(); ++part) {
    parts_.emplace_back(quotas_of(part), resident[part]);
  }
  return survey;
}

/// Returns the part of each mapping. If the cells cannot be identified, their memory belongs to the
/// common part.
std::vector<std::size_t> MemoryParts::parts_of(const std::vector<MemoryRange>& found) {
  std::vector<std::size_t> parts(found.size(), 0);
  if (change_.cells.empty()) {
    return parts;
  }
  std::vector<Bytes> sizes = mapped(change_.cells, &CellHome::size);
  std::vector<MappedMemory> mappings;
  mappings.reserve(found.size());
  for (const MemoryRange& memory : found) {
    mappings.push_back({memory.start, memory.length});
  }
  const auto mapping_of = mappings_of_cells(sizes, mappings);
  if (!mapping_of) {
    cells_unknown_because_ = mapping_of.error().message;
    return parts;
  }
  cells_unknown_because_.clear();
  for (std::size_t cell = 0; cell < mapping_of->size(); ++cell) {
    if ((*mapping_of)[cell] != kNoMapping) {
      parts[(*mapping_of)[cell]] = cell + 1;
    }
  }
  return parts;
}

std::vector<NodeQuota> MemoryParts::quotas_of(std::size_t part) const {
  if (part == 0) {
    return change_.quotas;
  }
  const CellHome& cell = change_.cells[part - 1];
  return {{cell.node, cell.size}};
}

bool MemoryParts::is_home(std::size_t part, NodeId node) const {
  if (part > 0) {
    return change_.cells[part - 1].node == node;
  }
  return std::any_of(change_.quotas.begin(), change_.quotas.end(),
                     [&](const NodeQuota& quota) { return quota.node == node; });
}

std::optional<NodeId> MemoryParts::all_pages_on(const PartRange& range) const {
  const MemoryRange& memory = range.memory;
  const bool nearly_all = range.resident >= memory.length - memory.length / kMuch;
  if (!nearly_all || memory.shared || memory.hugetlb || quotas_of(range.part).size() != 1) {
    return std::nullopt;
  }
  std::optional<NodeId> node;
  for (const NodeBytes& on_node : memory.resident) {
    if (on_node.bytes > Bytes{}) {
      if (node || is_home(range.part, on_node.node)) {
        return std::nullopt;
      }
      node = on_node.node;
    }
  }
  return node;
}

Bytes MemoryParts::remaining() const {
  return sum_of(parts_, [](const Destinations& part) { return part.remaining(); });
}

void MemoryParts::reopen() {
  for (Destinations& part : parts_) {
    part.reopen();
  }
}

void MemoryParts::close_blocked() {
  for (Destinations& part : parts_) {
    part.close_blocked();
  }
}

}  // namespace vmnuma::migration
