// SPDX-License-Identifier: Apache-2.0
#include "tools/numad/local_choice.h"

#include <fmt/format.h>

#include "balancer/core/entitlement.h"
#include "balancer/core/new_vm.h"
#include "placement/model/text.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/node_formats.h"
#include "stats/topology/topology_reader.h"

namespace vmnuma::tools {

namespace {

/// Reads the host as if nothing ran on it, but with its current free memory.
Result<Snapshot> read_host(const files::Directory& root, const Options& options) {
  VMNUMA_ASSIGN_OR_RETURN(auto reading, stats::read_topology(root));
  Snapshot snapshot;
  snapshot.epoch = 1;
  snapshot.epoch_length = CpuTime{options.rebalance_period * 1000};
  snapshot.topology = std::move(reading.topology);
  for (const Node& node : snapshot.topology.nodes) {
    VMNUMA_ASSIGN_OR_RETURN(
        const auto memory,
        files::read_parsed(
            root, fmt::format("sys/devices/system/node/node{}/meminfo", node.id.value),
            [&](std::string_view text) { return stats::parse_node_meminfo(node.id, text); }));
    NodeState state;
    state.physical = snapshot.epoch_length * node.core_count();
    state.threads = snapshot.epoch_length * node.cpu_count();
    state.free = memory.free;
    state.total = memory.total;
    state.reserve = memory.total * options.node_reserve_pct / 100;
    snapshot.nodes.push_back(state);
  }
  return snapshot;
}

}  // namespace

Result<std::vector<NodeId>> choose_locally(const files::Directory& root, std::int32_t vcpus,
                                           std::int64_t memory_mib, std::uint64_t turn) {
  const Options options;
  VMNUMA_ASSIGN_OR_RETURN(auto host, read_host(root, options));
  Snapshot& snapshot = host;
  balancer::NewVm vm;
  vm.load = Permille{options.cold_start_pct * 10};
  set_size(vm.description, vcpus, kMiB * memory_mib);
  balancer::add_vm(snapshot, vm, options);
  balancer::share_out(snapshot, options);
  NodeIndex last_placed_on = turn % snapshot.nodes.size();
  const std::vector<balancer::NewHome> homes =
      balancer::place_vm(snapshot, vm.description.id, options, last_placed_on);
  std::vector<NodeId> nodes =
      snapshot.topology.ids_of(balancer::start_nodes(snapshot, vm.description, homes));
  if (nodes.empty()) {
    return failure(ErrorCode::kUnsupported, "no node has both CPUs and memory");
  }
  return nodes;
}

Result<std::vector<NodeId>> all_nodes(const files::Directory& root) {
  auto nodes = files::read_parsed(root, "sys/devices/system/node/online", parse_node_list);
  if (nodes && nodes->empty()) {
    return failure(ErrorCode::kUnsupported, "no node is online");
  }
  return nodes;
}

}  // namespace vmnuma::tools
