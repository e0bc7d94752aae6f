// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/topology_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placement/model/text.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/fields.h"
#include "stats/formats/node_formats.h"
#include "stats/linux/huge_pages.h"
#include "stats/topology/cpu_isolation.h"
#include "stats/topology/hwloc_cpus.h"

namespace vmnuma::stats {
namespace {

using CpuSet = std::vector<CpuId>;  // ascending
using CpuPlaces = std::map<CpuId, CpuPlace>;

constexpr std::int32_t kNoPackage = -1;
/// Linux's default if the firmware provides no distances (6.1, include/linux/topology.h:
/// REMOTE_DISTANCE).
constexpr std::int32_t kUnknownDistance = 20;

Result<std::vector<HugePagePool>> read_huge_pages(const files::Directory& node) {
  VMNUMA_ASSIGN_OR_RETURN(const auto found, huge_page_pools(node));
  std::vector<HugePagePool> pools;
  for (const HugePagePoolFiles& pool : found) {
    VMNUMA_ASSIGN_OR_RETURN(const auto pages,
                            read_parsed(pool.directory, "nr_hugepages", parse_page_count));
    if (pages > 0) {
      pools.push_back({pool.page_size, pages});
    }
  }
  return pools;
}

/// Returns the numbers of the online nodes, ascending.
Result<std::vector<NodeId>> online_nodes(const files::Directory& nodes) {
  auto online = read_parsed(nodes, "online", parse_node_list);
  if (online || online.error().code != ErrorCode::kNotFound) {
    return online;
  }
  // On an old kernel, exactly the online nodes have directories.
  VMNUMA_ASSIGN_OR_RETURN(const auto names, nodes.names());
  std::vector<NodeId> found;
  for (const std::string& name : names) {
    if (const auto number = to_number<std::int32_t>(after(name, "node").value_or(""))) {
      found.push_back(NodeId{*number});
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Reads the CPUs of the node that has this directory.
Result<CpuSet> cpus_of(const files::Directory& node) {
  auto list = read_parsed(node, "cpulist", parse_cpu_list);
  if (list || list.error().code != ErrorCode::kNotFound) {
    return list;
  }
  return read_parsed(node, "cpumap", parse_cpu_map);  // on an old kernel
}

/// "CPU 3 is", "CPUs 3-5 are".
std::string cpus_text(const CpuSet& cpus) {
  return (cpus.size() == 1 ? "CPU " : "CPUs ") + to_list(cpus) +
         (cpus.size() == 1 ? " is" : " are");
}

class Reader {
 public:
  Reader(files::Directory nodes, std::vector<NodeId> online, CpuPlaces places,
         CpuIsolation isolation)
      : nodes_(std::move(nodes)),
        online_(std::move(online)),
        places_(std::move(places)),
        isolation_(std::move(isolation)) {}

  [[nodiscard]] Result<TopologyReading> read() && {
    std::vector<std::size_t> columns;  // of the distance files
    for (std::size_t column = 0; column < online_.size(); ++column) {
      auto node = read_node(online_[column]);
      if (node) {
        reading_.topology.nodes.push_back(std::move(*node));
        columns.push_back(column);
      } else {
        leave_out(online_[column], "", "the node is left out: " + node.error().message);
      }
    }
    if (reading_.topology.nodes.empty()) {
      return failure(ErrorCode::kCorrupt,
                     reading_.left_out.empty()
                         ? "there is no online NUMA node"
                         : "no NUMA node can be read: " + reading_.left_out.front().reason);
    }
    leave_out_shared_cpus();
    if (columns.size() == 1) {
      reading_.topology.distances = {kLocalDistance};
      return std::move(reading_);
    }
    for (const std::size_t row : columns) {
      add_distances(row, columns);
    }
    return std::move(reading_);
  }

 private:
  static std::string directory_name(NodeId node) { return "node" + std::to_string(node.value); }

  /// Records that a node is left out. `file` is the file of the node that is the cause; empty if it
  /// is the node itself.
  void leave_out(NodeId node, std::string_view file, std::string reason) {
    std::string path = directory_name(node);
    if (!file.empty()) {
      path.append("/").append(file);
    }
    reading_.left_out.push_back({nodes_.path_of(path), std::move(reason), std::nullopt});
  }

  [[nodiscard]] Result<files::Directory> directory_of(NodeId node) const {
    return nodes_.directory(directory_name(node));
  }

  /// Reads one node, without its distances.
  [[nodiscard]] Result<Node> read_node(NodeId id) {
    VMNUMA_ASSIGN_OR_RETURN(const auto directory, directory_of(id));
    VMNUMA_ASSIGN_OR_RETURN(const auto cpus, cpus_of(directory));
    VMNUMA_ASSIGN_OR_RETURN(const auto memory,
                            read_parsed(directory, "meminfo", [&](std::string_view text) {
                              return parse_node_memory(id, text);
                            }));
    Node node{.id = id, .memory = memory, .package = kNoPackage};
    add_cpus(cpus, node);
    auto huge_pages = read_huge_pages(directory);
    if (huge_pages) {
      node.huge_pages = std::move(*huge_pages);
    } else {
      leave_out(id, "hugepages", "they are left out: " + huge_pages.error().message);
    }
    return node;
  }

  void add_cpus(const CpuSet& cpus, Node& node) {
    CpuSet unknown;
    for (const CpuId id : cpus) {
      const auto place = places_.find(id);
      if (place == places_.end()) {
        unknown.push_back(id);
        continue;
      }
      if (node.package == kNoPackage) {
        node.package = place->second.package;
      }
      if (isolation_.keeps(id)) {
        node.isolated_cpus.push_back(id);
      } else {
        node.cpus.push_back({id, place->second.core, place->second.last_level_cache});
      }
    }
    if (!unknown.empty()) {
      leave_out(node.id, "cpulist", cpus_text(unknown) + " left out: offline, or unknown to hwloc");
    }
  }

  /// Leaves out CPUs that several nodes list. `numa=fake=` creates such nodes; between these,
  /// nothing could be balanced.
  void leave_out_shared_cpus() {
    std::map<CpuId, int> nodes_of;
    for (const Node& node : reading_.topology.nodes) {
      for (const Cpu& cpu : node.cpus) {
        ++nodes_of[cpu.id];
      }
    }
    CpuSet shared;
    for (const auto& [cpu, nodes] : nodes_of) {
      if (nodes > 1) {
        shared.push_back(cpu);
      }
    }
    if (shared.empty()) {
      return;
    }
    for (Node& node : reading_.topology.nodes) {
      std::erase_if(node.cpus, [&](const Cpu& cpu) {
        return std::binary_search(shared.begin(), shared.end(), cpu.id);
      });
    }
    reading_.left_out.push_back({nodes_.path(),
                                 cpus_text(shared) + " left out: in the lists of several nodes",
                                 std::nullopt});
  }

  /// Adds the distances of the node `online_[row]`. The files have a column for each online node.
  void add_distances(std::size_t row, const std::vector<std::size_t>& columns) {
    const auto read = directory_of(online_[row]).and_then([&](const files::Directory& directory) {
      return read_parsed(directory, "distance",
                         [&](std::string_view text) -> Result<std::vector<std::int32_t>> {
                           auto distances = parse_node_distances(text);
                           if (distances && distances->size() != online_.size()) {
                             return failure(ErrorCode::kCorrupt,
                                            std::to_string(distances->size()) + " numbers for " +
                                                std::to_string(online_.size()) + " online nodes");
                           }
                           return distances;
                         });
    });
    if (!read) {
      leave_out(online_[row], "distance",
                "the node's distances are taken to be " + std::to_string(kUnknownDistance) + ": " +
                    read.error().message);
    }
    for (const std::size_t column : columns) {
      reading_.topology.distances.push_back(read            ? (*read)[column]
                                            : row == column ? kLocalDistance
                                                            : kUnknownDistance);
    }
  }

  const files::Directory nodes_;
  const std::vector<NodeId> online_;
  const CpuPlaces places_;
  const CpuIsolation isolation_;
  TopologyReading reading_;
};

}  // namespace

Result<TopologyReading> read_topology(const files::Directory& root) {
  auto nodes = root.directory("sys/devices/system/node");
  if (!nodes) {
    return nodes.error().code == ErrorCode::kNotFound
               ? failure(ErrorCode::kUnsupported,
                         "the kernel has no NUMA support: " + nodes.error().message)
               : tl::unexpected(nodes.error());
  }
  VMNUMA_ASSIGN_OR_RETURN(auto online, online_nodes(*nodes));
  VMNUMA_ASSIGN_OR_RETURN(auto places, read_cpu_places(root.path()));
  VMNUMA_ASSIGN_OR_RETURN(auto isolation, read_cpu_isolation(root));
  return Reader(std::move(*nodes), std::move(online), std::move(places), std::move(isolation))
      .read();
}

}  // namespace vmnuma::stats
