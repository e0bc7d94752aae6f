// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/topology_reader.h"

#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "placement/model/text.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/node_formats.h"
#include "stats/linux/huge_pages.h"
#include "stats/topology/hwloc_cpus.h"

namespace vmnuma::stats {
namespace {

using placement::Bytes;
using placement::CpuId;
using placement::Node;
using placement::NodeId;
using placement::Topology;

using CpuSet = std::vector<CpuId>;  // ascending
using CpuPlaces = std::map<CpuId, CpuPlace>;

constexpr std::int32_t kNoPackage = -1;

/// The CPUs in a list file, nothing if there is no such file.
Result<std::optional<CpuSet>> read_cpu_list(const files::Directory& root, std::string_view path) {
  auto cpus = read_parsed(root, path, placement::parse_cpu_list);
  if (cpus) {
    return std::move(*cpus);
  }
  if (cpus.error().code == ErrorCode::kNotFound) {
    return std::nullopt;
  }
  return tl::unexpected(cpus.error());
}

/// Which CPUs VMs may not use although they are online.
class CpuFilter {
 public:
  [[nodiscard]] static Result<CpuFilter> read(const files::Directory& root) {
    auto isolated = read_cpu_list(root, "sys/devices/system/cpu/isolated");
    if (!isolated) {
      return tl::unexpected(isolated.error());
    }
    CpuFilter filter;
    filter.isolated_ = isolated->value_or(CpuSet{});
    for (const char* path : {"sys/fs/cgroup/machine.slice/cpuset.cpus.effective",
                             "sys/fs/cgroup/cpuset.cpus.effective"}) {
      auto allowed = read_cpu_list(root, path);
      if (!allowed) {
        return tl::unexpected(allowed.error());
      }
      if (*allowed) {
        filter.allowed_ = std::move(*allowed);
        break;
      }
    }
    return filter;
  }

  [[nodiscard]] bool lets_pass(CpuId cpu) const {
    return !std::binary_search(isolated_.begin(), isolated_.end(), cpu) &&
           (!allowed_ || std::binary_search(allowed_->begin(), allowed_->end(), cpu));
  }

 private:
  CpuSet isolated_;
  std::optional<CpuSet> allowed_;  ///< nothing: all
};

Result<std::vector<placement::HugePagePool>> read_huge_pages(const files::Directory& node) {
  const auto found = huge_page_pools(node);
  if (!found) {
    return tl::unexpected(found.error());
  }
  std::vector<placement::HugePagePool> pools;
  for (const HugePagePoolFiles& pool : *found) {
    const auto pages = read_parsed(pool.directory, "nr_hugepages", parse_page_count);
    if (!pages) {
      return tl::unexpected(pages.error());
    }
    if (*pages > 0) {
      pools.push_back({pool.page_size, *pages});
    }
  }
  return pools;
}

/// Adds the CPUs of `list` to `node`.
Result<void> add_cpus(const CpuSet& list, const CpuPlaces& places, const CpuFilter& filter,
                      Node& node) {
  node.package = kNoPackage;
  for (const CpuId id : list) {
    const auto place = places.find(id);
    if (place == places.end()) {
      return failure(ErrorCode::kCorrupt, "CPU " + std::to_string(id.value) + " of node " +
                                              std::to_string(node.id.value) +
                                              " is unknown to hwloc");
    }
    if (node.package == kNoPackage) {
      node.package = place->second.package;
    }
    if (filter.lets_pass(id)) {
      node.cpus.push_back({id, place->second.core, place->second.last_level_cache});
    }
  }
  return {};
}

/// One node, but for its distances.
Result<Node> read_node(NodeId id, const files::Directory& directory, const CpuPlaces& places,
                       const CpuFilter& filter) {
  Node node{.id = id};
  const auto list = read_parsed(directory, "cpulist", placement::parse_cpu_list);
  if (!list) {
    return tl::unexpected(list.error());
  }
  if (const auto added = add_cpus(*list, places, filter, node); !added) {
    return tl::unexpected(added.error());
  }
  const auto memory = read_parsed(
      directory, "meminfo", [&](std::string_view text) { return parse_node_meminfo(id, text); });
  if (!memory) {
    return tl::unexpected(memory.error());
  }
  node.memory = memory->total;
  auto huge_pages = read_huge_pages(directory);
  if (!huge_pages) {
    return tl::unexpected(huge_pages.error());
  }
  node.huge_pages = std::move(*huge_pages);
  return node;
}

/// No CPU may be on two nodes: `numa=fake=` makes such hosts, and nothing could be balanced on
/// them.
Result<void> check_disjoint(const Topology& topology) {
  std::map<CpuId, NodeId> node_of;
  for (const Node& node : topology.nodes) {
    for (const placement::Cpu& cpu : node.cpus) {
      const auto [first, is_new] = node_of.emplace(cpu.id, node.id);
      if (!is_new) {
        return failure(ErrorCode::kUnsupported,
                       "CPU " + std::to_string(cpu.id.value) + " is on node " +
                           std::to_string(first->second.value) + " and on node " +
                           std::to_string(node.id.value));
      }
    }
  }
  return {};
}

}  // namespace

Result<Topology> read_topology(const files::Directory& root) {
  const auto nodes = root.directory("sys/devices/system/node");
  if (!nodes) {
    return nodes.error().code == ErrorCode::kNotFound
               ? failure(ErrorCode::kUnsupported,
                         "the kernel has no NUMA support: " + nodes.error().message)
               : tl::unexpected(nodes.error());
  }
  const auto online = read_parsed(*nodes, "online", placement::parse_node_list);
  if (!online) {
    return tl::unexpected(online.error());
  }
  const auto places = read_cpu_places(root.path());
  if (!places) {
    return tl::unexpected(places.error());
  }
  const auto filter = CpuFilter::read(root);
  if (!filter) {
    return tl::unexpected(filter.error());
  }
  Topology topology;
  for (const NodeId id : *online) {
    const auto directory = nodes->directory("node" + std::to_string(id.value));
    if (!directory) {
      return tl::unexpected(directory.error());
    }
    auto node = read_node(id, *directory, *places, *filter);
    if (!node) {
      return tl::unexpected(node.error());
    }
    topology.nodes.push_back(std::move(*node));
    const auto row = read_parsed(*directory, "distance", parse_node_distances);
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (row->size() != online->size()) {
      return failure(ErrorCode::kCorrupt, "'" + directory->path_of("distance") + "' has " +
                                              std::to_string(row->size()) + " numbers for " +
                                              std::to_string(online->size()) + " online nodes");
    }
    topology.distances.insert(topology.distances.end(), row->begin(), row->end());
  }
  if (topology.nodes.empty()) {
    return failure(ErrorCode::kCorrupt, "there is no online NUMA node");
  }
  if (const auto disjoint = check_disjoint(topology); !disjoint) {
    return tl::unexpected(disjoint.error());
  }
  return topology;
}

}  // namespace vmnuma::stats
