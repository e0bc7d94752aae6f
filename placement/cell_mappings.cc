// SPDX-License-Identifier: Apache-2.0
#include "placement/cell_mappings.h"

#include <algorithm>
#include <map>
#include <string>

namespace vmnuma {

Result<std::vector<std::size_t>> mappings_of_cells(const std::vector<Bytes>& cells,
                                                   const std::vector<MappedMemory>& mappings) {
  std::map<Bytes, std::vector<std::size_t>> of_size;
  for (const Bytes size : cells) {
    of_size.try_emplace(size);
  }
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    if (const auto found = of_size.find(mappings[i].length); found != of_size.end()) {
      found->second.push_back(i);
    }
  }
  for (auto& [size, found] : of_size) {
    const auto wanted = std::ranges::count(cells, size);
    if (size > Bytes{} && static_cast<std::size_t>(wanted) != found.size()) {
      return failure(ErrorCode::kUnsupported, std::to_string(size.value / kMiB.value) + " MiB: " +
                                                  std::to_string(found.size()) + " mappings for " +
                                                  std::to_string(wanted) + " guest NUMA cells");
    }
    // Lowest first, so that each cell in turn takes the highest from the end.
    std::ranges::sort(
        found, [&](std::size_t a, std::size_t b) { return mappings[a].start < mappings[b].start; });
  }
  std::vector<std::size_t> result;
  for (const Bytes size : cells) {
    std::vector<std::size_t>& found = of_size[size];
    if (size <= Bytes{} || found.empty()) {
      result.push_back(kNoMapping);
      continue;
    }
    result.push_back(found.back());
    found.pop_back();
  }
  return result;
}

}  // namespace vmnuma
