// SPDX-License-Identifier: Apache-2.0
/// Parses the files in /sys/devices/system/node (Linux 6.1, drivers/base/node.c). Pure functions of
/// the text.
///
/// Properties: as in proc_formats.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"
#include "placement/model/sample.h"

namespace vmnuma::stats {

/// Lines of nodeN/meminfo, "Node N MemTotal: 4679884 kB"; those that are missing are absent. A
/// memoryless node has zeros. Pages of a hugetlb pool count in the total but never as free, whether
/// used or not.
struct NodeMeminfo {
  std::optional<Bytes> total;          ///< MemTotal
  std::optional<Bytes> free;           ///< MemFree
  std::optional<Bytes> inactive_file;  ///< Inactive(file)
  std::optional<Bytes> dirty;          ///< Dirty
  std::optional<Bytes> writeback;      ///< Writeback
};
/// On old kernels the file begins with an empty line. Error: corrupt, also if the file is about
/// another node.
[[nodiscard]] Result<NodeMeminfo> parse_node_lines(NodeId node, std::string_view text);
/// Likewise, but total and free memory. Error: corrupt, also if one of them is missing.
[[nodiscard]] Result<NodeSample> parse_node_meminfo(NodeId node, std::string_view text);
/// Likewise, but only the total.
[[nodiscard]] Result<Bytes> parse_node_memory(NodeId node, std::string_view text);

/// nodeN/cpumap, "0000,00000000,0000000c\n": the CPUs of a node as a mask in 32-bit words, the
/// highest word first (lib/bitmap.c). Old kernels have this file instead of cpulist. At most 65536
/// CPUs. Error: corrupt.
[[nodiscard]] Result<std::vector<CpuId>> parse_cpu_map(std::string_view text);

/// nodeN/distance, "10 21\n": one number per *online* node in the order of their ids.
[[nodiscard]] Result<std::vector<std::int32_t>> parse_node_distances(std::string_view text);

/// Returns the page size in the name of a directory "hugepages-2048kB"; nothing for other names.
[[nodiscard]] std::optional<Bytes> page_size_of_pool_name(std::string_view name);

/// nr_hugepages and free_hugepages of such a directory.
[[nodiscard]] Result<std::int64_t> parse_page_count(std::string_view text);

/// Parses a file that holds one number and a newline. `format` names the file in the error.
[[nodiscard]] Result<std::int64_t> parse_single_number(std::string_view format,
                                                       std::string_view text);

}  // namespace vmnuma::stats
