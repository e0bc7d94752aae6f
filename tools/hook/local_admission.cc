// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/local_admission.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "placement/clients.h"
#include "placement/exclusive_cores.h"
#include "placement/model/options.h"
#include "placement/model/text.h"
#include "stats/files/file.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/node_formats.h"

namespace vmnuma::tools {

namespace {

std::string node_file(NodeId node, std::string_view name) {
  return fmt::format("sys/devices/system/node/node{}/{}", node.value, name);
}

/// The nodes with their CPUs, and each node's free memory: in total, and above the reserve.
struct Host {
  Topology topology;
  std::vector<Bytes> free;
  std::vector<Bytes> room;
};

Result<Host> read_local_host(const files::Directory& root) {
  VMNUMA_ASSIGN_OR_RETURN(
      const auto ids, files::read_parsed(root, "sys/devices/system/node/online", parse_node_list));
  Host host;
  for (const NodeId id : ids) {
    const auto cpus = files::read_parsed(root, node_file(id, "cpulist"), parse_cpu_list);
    const auto memory = files::read_parsed(
        root, node_file(id, "meminfo"),
        [id](std::string_view text) { return stats::parse_node_meminfo(id, text); });
    const auto distances =
        files::read_parsed(root, node_file(id, "distance"), stats::parse_node_distances);
    if (!cpus || !memory || !distances) {
      return tl::unexpected(!cpus ? cpus.error() : !memory ? memory.error() : distances.error());
    }
    Node node{.id = id, .cpus = {}, .memory = memory->total, .package = 0, .huge_pages = {}};
    for (const CpuId cpu : *cpus) {
      node.cpus.push_back({cpu, cpu.value, 0});
    }
    host.topology.nodes.push_back(std::move(node));
    host.topology.distances.insert(host.topology.distances.end(), distances->begin(),
                                   distances->end());
    host.free.push_back(memory->free);
    host.room.push_back(memory->free - memory->total * Options{}.node_reserve_pct / 100);
  }
  if (host.topology.distances.size() != host.topology.nodes.size() * host.topology.nodes.size()) {
    return failure(ErrorCode::kCorrupt, "the distances between nodes do not fit their number");
  }
  return host;
}

const balancer::AdmissionState::Node* find_node(const balancer::AdmissionState& known, NodeId id) {
  const auto found = std::ranges::find(known.nodes, id, &balancer::AdmissionState::Node::id);
  return found == known.nodes.end() ? nullptr : &*found;
}

/// Returns the memory that is reserved for the VM on the node.
Bytes reserved_for(const VmDescription& vm, NodeId node, Bytes page_size,
                   const balancer::AdmissionState& known) {
  Bytes sum;
  for (const balancer::Reservation& reservation : known.reservations) {
    for (const MemoryOnNode& part : reservation.memory) {
      const bool is_its = part.node == node && part.page_size == page_size;
      sum += is_its && reservation.is_for(vm) ? part.memory : Bytes{};
    }
  }
  return sum;
}

/// Subtracts from the free memory what is promised to other VMs and what the daemon would keep in
/// reserve.
void take_promised(const balancer::AdmissionState& known, const Host& host, const VmDescription& vm,
                   FreeForVm& free) {
  for (std::size_t i = 0; i < host.topology.nodes.size(); ++i) {
    if (const auto* node = find_node(known, host.topology.nodes[i].id)) {
      const Bytes reserve = node->reserve - reserved_for(vm, node->id, Bytes{}, known);
      free.room[i] = std::min(free.room[i], host.free[i] - reserve) - node->promised;
    }
  }
  for (FreeHugePages& pages : free.huge_pages) {
    const auto* node = find_node(known, pages.node);
    for (std::size_t i = 0; node != nullptr && i < node->pools.size(); ++i) {
      const Bytes promised =
          node->pools[i].promised - reserved_for(vm, node->id, node->pools[i].page_size, known);
      pages.free -=
          node->pools[i].page_size == pages.page_size ? promised.value / pages.page_size.value : 0;
    }
  }
}

/// Limits the CPUs to those that VMs may use.
void limit_cpus(const balancer::AdmissionState& known, const Host& host, NodeResource& cpus) {
  for (std::size_t i = 0; i < host.topology.nodes.size(); ++i) {
    if (const auto* node = find_node(known, host.topology.nodes[i].id)) {
      cpus.available[i] = std::min<std::int64_t>(cpus.available[i], node->cpus);
      cpus.capacity[i] = std::min<std::int64_t>(cpus.capacity[i], node->cpus);
    }
  }
}

/// Returns how many vCPUs a core of the node holds. Its cores are assumed to be alike.
std::int64_t held_by_core(CpuPolicy policy, const balancer::AdmissionState::Node& node) {
  return policy == CpuPolicy::kSpreadByPCPUs
             ? 1
             : std::max(node.cpus / (node.cores + kCoresForOthers), 1);
}

/// Returns the cores that the VM asks for as its own, and the remaining cores; nothing if it asks
/// for none. A core that holds fewer vCPUs than those of another node counts as a part of one.
std::optional<NodeResource> own_cores(const balancer::AdmissionState& known, const Host& host,
                                      const VmDescription& vm) {
  if (vm.policy.cpu_binding != CpuBinding::kExclusive || known.nodes.empty()) {
    return std::nullopt;
  }
  std::int64_t most = 1;
  for (const balancer::AdmissionState::Node& node : known.nodes) {
    most = std::max(most, held_by_core(vm.policy.cpu_policy, node));
  }
  NodeResource cores{
      "cores of its own", divided_up(static_cast<std::int64_t>(vm.vcpus.size()), most), {}, {}};
  for (const Node& node : host.topology.nodes) {
    const auto* told = find_node(known, node.id);
    const std::int64_t held = told == nullptr ? 0 : held_by_core(vm.policy.cpu_policy, *told);
    cores.available.push_back(told == nullptr ? 0 : told->free_cores * held / most);
    cores.capacity.push_back(told == nullptr ? 0 : told->cores * held / most);
  }
  return cores;
}

/// Returns why no nodes can give the VM its cores, in the daemon's wording; nothing if some can.
std::optional<std::string> why_no_cores(const balancer::AdmissionState& known,
                                        const NodeResource& cores, const Host& host,
                                        const VmDescription& vm) {
  AdmissionRequest asked;
  asked.policy = TopologyPolicy::kRestricted;
  asked.allowed = allowed_homes(host.topology, vm.policy);
  keep_where_memory_may_lie(host.topology, vm, asked.allowed);
  asked.resources = {cores};
  if (admit(host.topology, asked).admitted) {
    return std::nullopt;
  }
  std::string text = fmt::format(
      "cpu_binding is 'exclusive', but too few whole cores are free: the VM needs {}. Free were",
      cores.asked);
  for (std::size_t i = 0; i < host.topology.nodes.size(); ++i) {
    const auto* told = find_node(known, host.topology.nodes[i].id);
    const std::int64_t others = told != nullptr && told->cpus > 0 ? kCoresForOthers : 0;
    text += fmt::format("{} on node {} {} of {} cores", i == 0 ? "" : ";",
                        host.topology.nodes[i].id.value, cores.available[i],
                        cores.capacity[i] + others);
  }
  return text;
}

}  // namespace

std::vector<FreeHugePages> read_huge_pages(const files::Directory& root, const VmDescription& vm) {
  std::vector<FreeHugePages> all;
  std::vector<NodeId> nodes;
  for (const PagesOfSize& pages : memory_by_page_size(vm)) {
    if (pages.page_size == Bytes{}) {
      continue;
    }
    if (nodes.empty()) {
      nodes = files::read_parsed(root, "sys/devices/system/node/online", parse_node_list)
                  .value_or(std::vector<NodeId>{});
    }
    for (const NodeId id : nodes) {
      const auto read = [&](std::string_view name) {
        return files::read_parsed(root,
                                  node_file(id, fmt::format("hugepages/hugepages-{}kB/{}",
                                                            pages.page_size.value / 1024, name)),
                                  stats::parse_page_count)
            .value_or(0);  // a node without memory, or without pages of that size
      };
      all.push_back({id, read("free_hugepages"), read("nr_hugepages"), pages.page_size});
    }
  }
  return all;
}

Result<balancer::StampedAdmission> read_admission(const std::string& root,
                                                  const std::string& state_dir) {
  return files::read_file(fmt::format("{}/{}/{}", root, state_dir, balancer::kAdmissionFile),
                          balancer::kMostAdmissionBytes)
      .and_then(balancer::parse_admission);
}

Result<void> admit_locally(const files::Directory& root, const VmDescription& vm,
                           const balancer::AdmissionState* known) {
  VMNUMA_ASSIGN_OR_RETURN(auto host, read_local_host(root));
  FreeForVm free{host.room, read_huge_pages(root, vm)};
  if (known != nullptr) {
    take_promised(*known, host, vm, free);
  }
  const auto cores = known == nullptr ? std::nullopt : own_cores(*known, host, vm);
  if (cores) {
    if (const auto why = why_no_cores(*known, *cores, host, vm)) {
      return failure(ErrorCode::kNoSpace, *why);
    }
  }
  const auto complete = [&](AdmissionRequest& asked, const VmDescription&) {
    if (known != nullptr) {
      limit_cpus(*known, host, asked.resources.front());
    }
    if (cores && vm.policy.topology_scope == TopologyScope::kVm) {
      asked.resources.push_back(*cores);
    }
  };
  const VmAdmission admission =
      admit_vm(host.topology, vm, Options{}.prefer_ht != 0, std::move(free), complete);
  return admission.refused ? failure(ErrorCode::kNoSpace, *admission.refused) : Result<void>{};
}

}  // namespace vmnuma::tools
