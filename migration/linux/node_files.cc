// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/node_files.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "stats/files/read_parsed.h"
#include "stats/formats/fields.h"
#include "stats/formats/node_formats.h"

namespace vmnuma::migration {

namespace {

/// The kB after " KEY:" on a line of its own.
Result<Bytes> kilobytes_of(std::string_view text, std::string_view key) {
  constexpr std::int64_t kMostKilobytes = std::int64_t{1} << 42;
  const std::string label = fmt::format(" {}:", key);
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) {
    return failure(ErrorCode::kCorrupt, fmt::format("a node's meminfo has no line '{}'", key));
  }
  std::string_view rest = text.substr(at + label.size());
  const std::string_view line = stats::take_line(rest).value_or("");
  std::string_view fields = line;
  const auto number = stats::take_number<std::int64_t>(fields);
  if (!number || *number > kMostKilobytes || fields != " kB") {
    return failure(ErrorCode::kCorrupt,
                   fmt::format("a node's meminfo has an invalid line '{}: {}'", key,
                               line.substr(std::min(line.find_first_not_of(' '), line.size()))));
  }
  return kKiB * *number;
}

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

Result<NodeMemory> parse_node_meminfo(std::string_view text) {
  const auto total = kilobytes_of(text, "MemTotal");
  const auto free = kilobytes_of(text, "MemFree");
  const auto cache = kilobytes_of(text, "Inactive(file)");
  const auto dirty = kilobytes_of(text, "Dirty");
  const auto writeback = kilobytes_of(text, "Writeback");
  for (const auto* value : {&total, &free, &cache, &dirty, &writeback}) {
    if (!*value) {
      return tl::unexpected(value->error());
    }
  }
  return NodeMemory{.total = *total,
                    .available = *free + std::max(Bytes{}, *cache - *dirty - *writeback),
                    .pools = {}};
}

Result<NodeMemory> read_node_memory(const files::Directory& root, NodeId node) {
  VMNUMA_ASSIGN_OR_RETURN(const auto directory, root.directory(fmt::format(
                                                    "sys/devices/system/node/node{}", node.value)));
  VMNUMA_ASSIGN_OR_RETURN(auto memory, read_parsed(directory, "meminfo", parse_node_meminfo));
  VMNUMA_ASSIGN_OR_RETURN(auto pools, read_pools(directory));
  memory.pools = std::move(pools);
  return memory;
}

}  // namespace vmnuma::migration
