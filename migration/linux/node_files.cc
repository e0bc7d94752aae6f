// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/node_files.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "stats/files/read_parsed.h"
#include "stats/formats/node_formats.h"

namespace vmnuma::migration {

namespace {

/// Reads the pools, by ascending page size; none where the kernel has no hugetlb.
Result<std::vector<PoolFree>> read_pools(const files::Directory& node) {
  std::vector<PoolFree> pools;
  const auto directory = node.directory("hugepages");
  if (!directory) {
    return directory.error().code == ErrorCode::kNotFound ? Result<std::vector<PoolFree>>(pools)
                                                          : tl::unexpected(directory.error());
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto names, directory->names());
  for (const std::string& name : names) {
    if (const auto size = stats::page_size_of_pool_name(name)) {
      VMNUMA_ASSIGN_OR_RETURN(const auto free, read_parsed(*directory, name + "/free_hugepages",
                                                           stats::parse_page_count));
      pools.push_back({*size, free});
    }
  }
  std::ranges::sort(pools, {}, &PoolFree::page_size);
  return pools;
}

}  // namespace

Result<NodeMemory> parse_node_meminfo(NodeId node, std::string_view text) {
  VMNUMA_ASSIGN_OR_RETURN(const auto info, stats::parse_node_lines(node, text));
  if (!info.total || !info.free || !info.inactive_file || !info.dirty || !info.writeback) {
    return failure(ErrorCode::kCorrupt, "a node's meminfo lacks lines");
  }
  const Bytes clean = std::max(Bytes{}, *info.inactive_file - *info.dirty - *info.writeback);
  return NodeMemory{.total = *info.total, .available = *info.free + clean, .pools = {}};
}

Result<NodeMemory> read_node_memory(const files::Directory& root, NodeId node) {
  VMNUMA_ASSIGN_OR_RETURN(const auto directory, root.directory(fmt::format(
                                                    "sys/devices/system/node/node{}", node.value)));
  VMNUMA_ASSIGN_OR_RETURN(auto memory,
                          read_parsed(directory, "meminfo", [node](std::string_view text) {
                            return parse_node_meminfo(node, text);
                          }));
  VMNUMA_ASSIGN_OR_RETURN(auto pools, read_pools(directory));
  memory.pools = std::move(pools);
  return memory;
}

}  // namespace vmnuma::migration
