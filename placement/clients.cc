// SPDX-License-Identifier: Apache-2.0
#include "placement/clients.h"

#include <algorithm>

#include "placement/base/sorted.h"

namespace vmnuma {
namespace {

using Vcpus = std::vector<std::int32_t>;

/// For a VM that fits one of its homes, the size of the largest; else that of the smallest, so that
/// each of its clients can live on any of them.
std::size_t client_size(const VmDescription& vm, const Topology& topology,
                        const std::vector<NodeIndex>& homes, bool by_threads) {
  const VmPolicy& policy = vm.policy;
  std::int32_t smallest = 0;
  std::int32_t largest = 0;
  for (const NodeIndex home : homes) {
    const Node& node = topology.nodes[home];
    const std::int32_t places = by_threads ? node.cpu_count() : node.core_count();
    smallest = smallest == 0 ? places : std::min(smallest, places);
    largest = std::max(largest, places);
  }
  std::int32_t size = static_cast<std::size_t>(largest) >= vm.vcpus.size() ? largest : smallest;
  for (const std::int32_t most : {policy.max_per_node, policy.max_per_client}) {
    if (most > 0) {
      size = std::min(size, most);
    }
  }
  return static_cast<std::size_t>(std::max(size, 1));
}

/// True if each vCPU could have a CPU of its own there.
bool holds_whole(const Node& node, const VmDescription& vm) {
  return static_cast<std::size_t>(node.cpu_count()) >= vm.vcpus.size();
}

/// Returns true if the VM only starts, and is kept, on one node.
bool must_be_whole(const VmPolicy& policy) {
  return policy.topology_policy == TopologyPolicy::kSingleNumaNode &&
         policy.topology_scope == TopologyScope::kVm;
}

/// Adds the nodes of these devices that the host has; `nodes` stays ascending, each once.
template <class Devices>
void add_nodes_of(const Devices& devices, const Topology& topology, std::vector<NodeIndex>& nodes) {
  for (const auto& device : devices) {
    if (const std::optional<NodeIndex> node = topology.index_of(device.node)) {
      nodes.push_back(*node);
    }
  }
  nodes = sorted_unique(std::move(nodes));
}

/// Keeps those of `nodes` that are `good`, or all if none is.
template <class Good>
void keep_if_any(std::vector<NodeIndex>& nodes, const Good& good) {
  if (std::ranges::any_of(nodes, good)) {
    std::erase_if(nodes, [&](NodeIndex node) { return !good(node); });
  }
}

/// Cuts `units` into `count` runs whose lengths differ by at most one unit, longer runs first.
std::vector<Vcpus> cut_evenly(const std::vector<Vcpus>& units, std::size_t count) {
  std::vector<Vcpus> groups(count);
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t take = units.size() / count + (i < units.size() % count ? 1 : 0);
    for (std::size_t j = 0; j < take; ++j, ++next) {
      groups[i].insert(groups[i].end(), units[next].begin(), units[next].end());
    }
  }
  return groups;
}

std::size_t largest(const std::vector<Vcpus>& groups) {
  std::size_t most = 0;
  for (const Vcpus& group : groups) {
    most = std::max(most, group.size());
  }
  return most;
}

/// Returns the online vCPUs in units, each a block of `per_unit` consecutive numbers.
std::vector<Vcpus> units_of(const Vcpus& vcpus, std::int64_t per_unit) {
  std::vector<Vcpus> units;
  std::int64_t unit = -1;
  for (const std::int32_t vcpu : vcpus) {
    if (units.empty() || vcpu / per_unit != unit) {
      unit = vcpu / per_unit;
      units.emplace_back();
    }
    units.back().push_back(vcpu);
  }
  return units;
}

/// Returns at least `count` even groups of at most `size`, made of the largest declared units -
/// sockets, dies, cores - for which that is possible.
std::vector<Vcpus> split_by_sockets(const VmDescription& vm, std::size_t size, std::size_t count) {
  const std::size_t groups =
      std::min(vm.vcpus.size(), std::max(count, static_cast<std::size_t>(divided_up(
                                                    static_cast<std::int64_t>(vm.vcpus.size()),
                                                    static_cast<std::int64_t>(size)))));
  // The guest numbers its vCPUs by thread, core, die and socket, in this order.
  const std::int64_t per_core = std::max(vm.threads, 1);
  const std::int64_t per_die = per_core * std::max(vm.cores, 1);
  const std::int64_t per_socket = per_die * std::max(vm.dies, 1);
  for (const std::int64_t per_unit : {per_socket, per_die, per_core}) {
    const std::vector<Vcpus> units = units_of(vm.vcpus, per_unit);
    if (units.size() >= groups) {
      std::vector<Vcpus> whole = cut_evenly(units, groups);
      if (largest(whole) <= size) {
        return whole;
      }
    }
  }
  return cut_evenly(units_of(vm.vcpus, 1), groups);
}

Vcpus online_in(const GuestCell& cell, const VmDescription& vm) {
  Vcpus online;
  std::set_intersection(cell.vcpus.begin(), cell.vcpus.end(), vm.vcpus.begin(), vm.vcpus.end(),
                        std::back_inserter(online));
  return online;
}

/// Returns how many runs of whole neighbouring cells are needed if each holds at most `most` vCPUs.
std::size_t groups_needed(const std::vector<ClientShape>& cells, std::size_t most) {
  std::size_t groups = 0;
  std::size_t filled = most + 1;
  for (const ClientShape& cell : cells) {
    if (filled + cell.vcpus.size() > most) {
      ++groups;
      filled = 0;
    }
    filled += cell.vcpus.size();
  }
  return groups;
}

/// Joins neighbouring cells into as few groups as `size` allows, and as evenly as possible among
/// the ways to do so.
std::vector<ClientShape> join_cells(const std::vector<ClientShape>& cells, std::size_t size,
                                    std::size_t count) {
  const std::size_t fewest = std::max(count, groups_needed(cells, size));
  std::size_t even = 1;
  for (const ClientShape& cell : cells) {
    even = std::max(even, cell.vcpus.size());
  }
  while (groups_needed(cells, even) > fewest) {
    ++even;
  }
  std::vector<ClientShape> groups;
  std::size_t left = cells.size();
  for (const ClientShape& cell : cells) {
    const bool must_open = groups.empty() || groups.back().vcpus.size() + cell.vcpus.size() > even;
    // If more than the fewest groups were requested, the remaining cells must make enough of them.
    const bool should_open =
        !groups.empty() && groups.size() + left <= std::min(fewest, cells.size());
    if (must_open || should_open) {
      groups.emplace_back();
    }
    ClientShape& group = groups.back();
    group.vcpus.insert(group.vcpus.end(), cell.vcpus.begin(), cell.vcpus.end());
    group.cells.insert(group.cells.end(), cell.cells.begin(), cell.cells.end());
    group.memory += cell.memory;
    --left;
  }
  for (ClientShape& group : groups) {
    std::ranges::sort(group.vcpus);  // cells may interleave
  }
  return groups;
}

std::vector<ClientShape> split_by_cells(const VmDescription& vm, std::size_t size,
                                        std::size_t count) {
  std::vector<ClientShape> cells;
  bool all_fit = true;
  for (const GuestCell& cell : vm.cells) {
    Vcpus online = online_in(cell, vm);
    all_fit = all_fit && online.size() <= size;
    cells.push_back({std::move(online), {cell.id}, cell.memory});
  }
  if (all_fit) {
    return join_cells(cells, size, count);
  }
  // A cell is larger than a node: such cells are cut one by one, the others stay whole.
  std::vector<ClientShape> shapes;
  for (ClientShape& cell : cells) {
    const auto whole = static_cast<std::int64_t>(cell.vcpus.size());
    const auto parts = static_cast<std::size_t>(
        std::max<std::int64_t>(1, divided_up(whole, static_cast<std::int64_t>(size))));
    if (parts == 1) {
      shapes.push_back(std::move(cell));
      continue;
    }
    for (Vcpus& part : cut_evenly(units_of(cell.vcpus, 1), parts)) {
      const auto share = static_cast<std::int64_t>(part.size());
      shapes.push_back({std::move(part), {}, scaled(cell.memory, share, whole)});
    }
  }
  return shapes;
}

/// Returns false if some vCPU is in no cell; it would be lost in a split by cells. libvirt allows
/// this only for CPU-less cells.
bool cells_cover(const VmDescription& vm) {
  return sum_of(vm.cells, [&](const GuestCell& cell) { return online_in(cell, vm).size(); }) ==
         vm.vcpus.size();
}

/// Memory-only cells make no client; their memory goes to the first client that has vCPUs.
void drop_empty(std::vector<ClientShape>& shapes) {
  const auto first =
      std::ranges::find_if(shapes, [](const ClientShape& shape) { return !shape.vcpus.empty(); });
  for (ClientShape& shape : shapes) {
    if (shape.vcpus.empty()) {
      first->memory += shape.memory;
      first->cells.insert(first->cells.end(), shape.cells.begin(), shape.cells.end());
    }
  }
  std::erase_if(shapes, [](const ClientShape& shape) { return shape.vcpus.empty(); });
}

/// Divides the VM's present memory in proportion to the cells' memory, or to the vCPUs where no
/// cell declares any; the rounding remainder goes to the first.
void share_out_memory(Bytes memory, std::vector<ClientShape>& shapes) {
  Bytes declared;
  std::int64_t vcpus = 0;
  for (const ClientShape& shape : shapes) {
    declared += shape.memory;
    vcpus += static_cast<std::int64_t>(shape.vcpus.size());
  }
  Bytes left = memory;
  for (ClientShape& shape : shapes) {
    shape.memory = declared > Bytes{}
                       ? scaled(memory, shape.memory.value, declared.value)
                       : scaled(memory, static_cast<std::int64_t>(shape.vcpus.size()), vcpus);
    left -= shape.memory;
  }
  shapes.front().memory += left;
}

}  // namespace

std::vector<NodeIndex> allowed_homes(const Topology& topology, const VmPolicy& policy) {
  std::vector<NodeIndex> homes = topology.homes();
  keep_if_any(homes, [&](NodeIndex node) {
    return std::ranges::find(policy.nodes, topology.nodes[node].id) != policy.nodes.end();
  });
  return homes;
}

std::vector<NodeIndex> device_nodes(const Topology& topology, const VmDescription& vm) {
  std::vector<NodeIndex> nodes;
  const DeviceLocality locality = vm.policy.device_locality;
  if (locality != DeviceLocality::kNone) {
    add_nodes_of(vm.pci_devices, topology, nodes);
    add_nodes_of(vm.mediated_devices, topology, nodes);
  }
  if (locality == DeviceLocality::kStrict || locality == DeviceLocality::kSocket) {
    add_nodes_of(vm.host_interfaces, topology, nodes);
    add_nodes_of(vm.host_disks, topology, nodes);
  }
  return nodes;
}

std::vector<NodeIndex> wished_nodes(const Topology& topology, const VmDescription& vm) {
  std::vector<NodeIndex> nodes;
  if (vm.policy.device_locality == DeviceLocality::kPreferred) {
    add_nodes_of(vm.host_interfaces, topology, nodes);
    add_nodes_of(vm.host_disks, topology, nodes);
  }
  return nodes;
}

std::vector<NodeIndex> bound_nodes(const Topology& topology, const VmDescription& vm,
                                   const std::vector<std::int32_t>& cells) {
  return topology.indices_of(bound_nodes(vm, cells));
}

void keep_where_memory_may_lie(const Topology& topology, const VmDescription& vm,
                               std::vector<NodeIndex>& homes) {
  const std::vector<NodeIndex> bound = bound_nodes(topology, vm, {});
  keep_if_any(homes, [&](NodeIndex node) {
    return bound.empty() || std::ranges::binary_search(bound, node);
  });
}

void keep_its_sockets(const Topology& topology, const VmDescription& vm,
                      std::vector<NodeIndex>& homes) {
  if (vm.policy.device_locality != DeviceLocality::kSocket) {
    return;
  }
  const std::vector<NodeIndex> devices = device_nodes(topology, vm);
  keep_if_any(homes, [&](NodeIndex node) {
    return std::ranges::any_of(devices, [&](NodeIndex device) {
      return topology.nodes[device].package == topology.nodes[node].package;
    });
  });
}

std::vector<NodeIndex> allowed_homes(const Topology& topology, const VmDescription& vm) {
  std::vector<NodeIndex> homes = allowed_homes(topology, vm.policy);
  if (vm.policy.device_locality == DeviceLocality::kStrict) {
    const std::vector<NodeIndex> devices = device_nodes(topology, vm);
    keep_if_any(homes, [&](NodeIndex node) { return std::ranges::binary_search(devices, node); });
  }
  keep_its_sockets(topology, vm, homes);
  if (vm.numatune == NumatuneMode::kRestrictive && !vm.numatune_auto &&
      vm.policy.memory_mode == MemoryMode::kSoft) {
    keep_if_any(homes, [&](NodeIndex node) {
      return std::ranges::find(vm.numatune_nodes, topology.nodes[node].id) !=
             vm.numatune_nodes.end();
    });
  }
  if (must_be_whole(vm.policy)) {
    keep_if_any(homes, [&](NodeIndex node) { return holds_whole(topology.nodes[node], vm); });
  }
  return homes;
}

bool counts_threads(const VmPolicy& policy, bool prefer_ht) {
  return prefer_ht || policy.prefer_ht || policy.topology_policy == TopologyPolicy::kRestricted ||
         policy.topology_policy == TopologyPolicy::kBestEffort;
}

std::vector<ClientShape> split_into_clients(const VmDescription& vm, const Topology& topology,
                                            bool prefer_ht) {
  const std::vector<NodeIndex> homes = allowed_homes(topology, vm);
  if (vm.vcpus.empty() || homes.empty()) {
    return {};
  }
  const bool one = must_be_whole(vm.policy) && holds_whole(topology.nodes[homes.front()], vm);
  const std::size_t size =
      one ? vm.vcpus.size()
          : client_size(vm, topology, homes, counts_threads(vm.policy, prefer_ht));

  // Memory that does not fit a node calls for more clients only if the administrator wants it
  // spread.
  std::size_t count = 1;
  if (!vm.policy.consolidate && !one) {
    Bytes smallest = topology.nodes[homes.front()].memory;
    for (const NodeIndex home : homes) {
      smallest = std::min(smallest, topology.nodes[home].memory);
    }
    count = static_cast<std::size_t>(
        std::clamp<std::int64_t>(divided_up(vm.memory.value, smallest.value), 1,
                                 static_cast<std::int64_t>(vm.vcpus.size())));
  }

  std::vector<ClientShape> shapes;
  if (!vm.cells.empty() && cells_cover(vm)) {
    shapes = split_by_cells(vm, size, count);
    drop_empty(shapes);
  } else {
    for (Vcpus& group : split_by_sockets(vm, size, count)) {
      shapes.push_back({std::move(group), {}, Bytes{}});
    }
  }
  share_out_memory(vm.memory, shapes);
  return shapes;
}

}  // namespace vmnuma
