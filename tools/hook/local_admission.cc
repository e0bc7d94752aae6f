// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/local_admission.h"

#include <utility>

#include <fmt/format.h>

#include "placement/clients.h"
#include "placement/model/options.h"
#include "placement/model/text.h"
#include "stats/linux/node_formats.h"
#include "stats/linux/read_parsed.h"

namespace vmnuma::tools {

namespace {

using placement::Bytes;
using placement::Node;
using placement::NodeId;

std::string node_file(NodeId node, std::string_view name) {
  return fmt::format("sys/devices/system/node/node{}/{}", node.value, name);
}

/// Nodes with their CPUs, and the free memory of each above the reserve.
struct Host {
  placement::Topology topology;
  std::vector<Bytes> room;
};

Result<Host> read_host(const stats::Directory& root) {
  const auto ids =
      stats::read_parsed(root, "sys/devices/system/node/online", placement::parse_node_list);
  if (!ids) {
    return tl::unexpected(ids.error());
  }
  Host host;
  for (const NodeId id : *ids) {
    const auto cpus = stats::read_parsed(root, node_file(id, "cpulist"), placement::parse_cpu_list);
    const auto memory = stats::read_parsed(
        root, node_file(id, "meminfo"),
        [id](std::string_view text) { return stats::parse_node_meminfo(id, text); });
    const auto distances =
        stats::read_parsed(root, node_file(id, "distance"), stats::parse_node_distances);
    if (!cpus || !memory || !distances) {
      return tl::unexpected(!cpus ? cpus.error() : !memory ? memory.error() : distances.error());
    }
    Node node{.id = id, .cpus = {}, .memory = memory->total, .package = 0, .huge_pages = {}};
    for (const placement::CpuId cpu : *cpus) {
      node.cpus.push_back({cpu, cpu.value, 0});
    }
    host.topology.nodes.push_back(std::move(node));
    host.topology.distances.insert(host.topology.distances.end(), distances->begin(),
                                   distances->end());
    host.room.push_back(memory->free - memory->total * placement::Options{}.node_reserve_pct / 100);
  }
  if (host.topology.distances.size() != host.topology.nodes.size() * host.topology.nodes.size()) {
    return failure(ErrorCode::kCorrupt, "the distances between nodes do not fit their number");
  }
  return host;
}

}  // namespace

std::vector<placement::FreeHugePages> read_huge_pages(const stats::Directory& root,
                                                      const placement::VmDescription& vm) {
  std::vector<placement::FreeHugePages> all;
  const auto ids =
      stats::read_parsed(root, "sys/devices/system/node/online", placement::parse_node_list);
  for (const NodeId id : ids.value_or(std::vector<NodeId>{})) {
    if (vm.huge_page_size == Bytes{}) {
      break;
    }
    const auto read = [&](std::string_view name) {
      return stats::read_parsed(root,
                                node_file(id, fmt::format("hugepages/hugepages-{}kB/{}",
                                                          vm.huge_page_size.value / 1024, name)),
                                [](std::string_view text) {
                                  return stats::parse_single_number("a number of huge pages", text);
                                })
          .value_or(0);  // a node without memory, or without pages of that size
    };
    all.push_back({id, read("free_hugepages"), read("nr_hugepages")});
  }
  return all;
}

Result<void> admit_locally(const stats::Directory& root, const placement::VmDescription& vm) {
  const auto host = read_host(root);
  if (!host) {
    return tl::unexpected(host.error());
  }
  const placement::VmAdmission admission = admit_vm(
      host->topology, vm, placement::Options{}.prefer_ht != 0,
      {host->room, read_huge_pages(root, vm)}, [](auto& /*request*/, const auto& /*part*/) {});
  return admission.refused ? failure(ErrorCode::kNoSpace, *admission.refused) : Result<void>{};
}

}  // namespace vmnuma::tools
