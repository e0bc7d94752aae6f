// SPDX-License-Identifier: Apache-2.0
#include "tests/support/advice_promises.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "placement/advice/advice.h"
#include "placement/advice/warnings.h"
#include "placement/clients.h"

namespace vmnuma::tests {

namespace {

/// Returns the node's memory in pages of that size; zero means ordinary pages.
Bytes memory_of(const Node& node, Bytes page_size) {
  for (const HugePagePool& pool : node.huge_pages) {
    if (pool.page_size == page_size) {
      return page_size * pool.pages;
    }
  }
  return page_size == Bytes{} ? node.memory : Bytes{};
}

/// Returns the caches of the CPUs to which the vCPU is pinned; if it is not pinned, of all CPUs of
/// these nodes.
std::set<std::int32_t> caches_of(const VmDescription& vm, std::int32_t vcpu,
                                 const Topology& topology, const std::vector<NodeIndex>& nodes) {
  std::vector<CpuId> pinned = pinned_cpus(vm.vcpu_pins, vcpu);
  pinned = pinned.empty() ? vm.default_pin : pinned;
  std::set<std::int32_t> caches;
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    const bool is_one = std::find(nodes.begin(), nodes.end(), node) != nodes.end();
    for (const Cpu& cpu : topology.nodes[node].cpus) {
      if (pinned.empty() ? is_one
                         : std::find(pinned.begin(), pinned.end(), cpu.id) != pinned.end()) {
        caches.insert(cpu.last_level_cache);
      }
    }
  }
  return caches;
}

}  // namespace

AdviceRequest as_advised(const AdviceRequest& request, const Advice& advice) {
  AdviceRequest after = request;
  VmDescription& vm = after.vm;
  vm.sockets = advice.sockets;
  vm.dies = advice.dies;
  vm.cores = advice.cores;
  vm.threads = advice.threads;
  vm.cells = advice.cells;
  vm.max_memory = vm.memory = advice.memory;
  vm.io_threads.clear();
  for (std::int32_t id = 1; id <= advice.io_threads; ++id) {
    vm.io_threads.push_back(id);
  }
  vm.io_thread_pins = advice.io_thread_pins;
  vm.numatune_auto = vm.placement_auto = advice.binding == AdvisedBinding::kAuto;
  vm.numatune = advice.binding == AdvisedBinding::kCells ? NumatuneMode::kPreferred
                                                         : NumatuneMode::kRestrictive;
  vm.numatune_nodes = advice.nodes;
  for (std::size_t cell = 0; cell < advice.cell_nodes.size(); ++cell) {
    vm.cells[cell].binding = {NumatuneMode::kPreferred, {advice.cell_nodes[cell]}};
  }
  return after;
}

std::optional<std::string> wrong_cells(const AdviceRequest& request, const AdviceHost& /*host*/,
                                       const Advice& advice) {
  if (advice.cells.empty()) {
    return std::nullopt;
  }
  std::int32_t next = 0;
  Bytes sum;
  auto least = static_cast<std::size_t>(advice.vcpus);
  std::size_t most = 0;
  for (const GuestCell& cell : advice.cells) {
    for (const std::int32_t vcpu : cell.vcpus) {
      if (vcpu != next++) {
        return fmt::format("cell {} has vCPU {} out of order", cell.id, vcpu);
      }
    }
    if (cell.memory <= Bytes{}) {
      return fmt::format("cell {} has no memory", cell.id);
    }
    least = std::min(least, cell.vcpus.size());
    most = std::max(most, cell.vcpus.size());
    sum += cell.memory;
  }
  if (next != advice.vcpus || request.vm.max_vcpus != advice.vcpus) {
    return fmt::format("its cells have {} of {} vCPUs", next, request.vm.max_vcpus);
  }
  const Bytes unit = std::max(request.vm.huge_page_size, kMiB);
  const Bytes rounded = advice.memory - request.vm.max_memory;
  if (sum != advice.memory || rounded < Bytes{} ||
      rounded >= unit * static_cast<std::int64_t>(advice.cells.size())) {
    return fmt::format("its cells have {} bytes, its memory is {}, of {}", sum.value,
                       advice.memory.value, request.vm.max_memory.value);
  }
  if (most - least > static_cast<std::size_t>(advice.threads)) {
    return fmt::format("its cells have {} to {} vCPUs", least, most);
  }
  return std::nullopt;
}

std::optional<std::string> silently_too_large(const AdviceRequest& request, const AdviceHost& host,
                                              const Advice& advice) {
  const auto warned = warnings_about(as_advised(request, advice).vm, host);
  const bool is_said = std::any_of(warned.begin(), warned.end(), [](const AdviceWarned& one) {
    return one.kind == AdviceWarning::kCellTooLarge || one.kind == AdviceWarning::kHugePagesTooFew;
  });
  std::vector<GuestCell> cells = advice.cells;
  if (cells.empty()) {
    cells.push_back({0, std::vector<std::int32_t>(static_cast<std::size_t>(advice.vcpus)),
                     request.vm.max_memory});
  }
  for (const GuestCell& cell : cells) {
    const auto& nodes = host.topology.nodes;
    const bool fits = std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
      return static_cast<std::size_t>(node.cpu_count()) >= cell.vcpus.size() &&
             memory_of(node, request.vm.huge_page_size) >= cell.memory;
    });
    if (!fits && !is_said) {
      return fmt::format("cell {} fits no node, and that is not said", cell.id);
    }
  }
  return std::nullopt;
}

std::optional<std::string> wrong_sockets(const AdviceRequest& request, const AdviceHost& host,
                                         const Advice& advice) {
  if (advice.sockets * advice.dies * advice.cores * advice.threads != advice.vcpus) {
    return fmt::format("{} sockets of {} dies, {} cores and {} threads are not {} vCPUs",
                       advice.sockets, advice.dies, advice.cores, advice.threads, advice.vcpus);
  }
  for (const AdviceWarned& warned : warnings_about(as_advised(request, advice).vm, host)) {
    switch (warned.kind) {
      case AdviceWarning::kSocketAcrossCells:
      case AdviceWarning::kNoCells:
      case AdviceWarning::kThreadsWithoutSmt:
      case AdviceWarning::kStrictWithoutRoom:
        return "as advised it is warned: " + warned.text;
      default:
        break;
    }
  }
  return std::nullopt;
}

std::optional<std::string> other_advice(const AdviceRequest& request, const AdviceHost& host,
                                        const Advice& advice) {
  Advice first = advice;
  auto second = advise(as_advised(request, advice), host);
  if (!second) {
    return "as advised it is given no advice: " + second.error().message;
  }
  first.lines.clear();
  second->lines.clear();
  return first == *second ? std::nullopt
                          : std::optional<std::string>("as advised it is advised otherwise");
}

std::optional<std::string> other_clients(const AdviceRequest& request, const AdviceHost& host,
                                         const Advice& advice) {
  VmDescription vm = as_advised(request, advice).vm;
  vm.vcpus.resize(static_cast<std::size_t>(vm.max_vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  const auto clients = split_into_clients(vm, host.topology, host.prefer_ht);
  const std::size_t homes = allowed_homes(host.topology, vm).size();
  if (advice.cells.size() > homes) {
    return fmt::format("it has {} cells on {} nodes", advice.cells.size(), homes);
  }
  if (clients.size() > homes) {
    return std::nullopt;  // there is not a node for each
  }
  if (clients.size() != std::max<std::size_t>(advice.cells.size(), 1)) {
    return fmt::format("its {} cells are split into {} clients", advice.cells.size(),
                       clients.size());
  }
  for (std::size_t i = 0; i < advice.cells.size(); ++i) {
    if (clients[i].vcpus != advice.cells[i].vcpus || clients[i].memory != advice.cells[i].memory) {
      return fmt::format("client {} is not its cell", i);
    }
  }
  return std::nullopt;
}

std::optional<std::string> untrue_caches(const AdviceRequest& request, const AdviceHost& host,
                                         const Advice& advice) {
  if (!advice.shows_cache) {
    return advice.dies == 1 ? std::nullopt
                            : std::optional<std::string>("it has dies, and no cache");
  }
  // placement/cpu_assignment.h confines each of its clients to one.
  if (request.vm.policy.cpu_binding == CpuBinding::kShare) {
    return std::nullopt;
  }
  const VmDescription vm = as_advised(request, advice).vm;
  const auto homes = allowed_homes(host.topology, vm);
  if (std::all_of(homes.begin(), homes.end(), [&](NodeIndex home) {
        return caches_of({}, 0, host.topology, {home}).size() == 1;
      })) {
    return std::nullopt;
  }
  std::set<std::int32_t> of_dies;
  const std::int32_t die = advice.cores * advice.threads;
  for (std::int32_t first = 0; first < advice.vcpus; first += die) {
    std::set<std::int32_t> caches;
    for (std::int32_t vcpu = first; vcpu < first + die; ++vcpu) {
      caches.merge(caches_of(vm, vcpu, host.topology, homes));
    }
    if (caches.size() != 1) {
      return fmt::format("vCPUs from {} on are said to share a cache, and have {}", first,
                         caches.size());
    }
    if (!of_dies.insert(*caches.begin()).second && advice.dies > 1) {
      return fmt::format("vCPUs from {} on share the cache of another die", first);
    }
  }
  return std::nullopt;
}

std::vector<AdviceRequest> vms_of_all_sizes(const Topology& topology) {
  std::int32_t cpus = 0;
  for (const Node& node : topology.nodes) {
    cpus += node.cpu_count();
  }
  std::vector<AdviceRequest> requests;
  constexpr std::int32_t kSmall = 4;
  for (std::int32_t vcpus = 1; vcpus <= 2 * cpus + 1; vcpus += vcpus < kSmall ? 1 : vcpus / 3) {
    AdviceRequest plain;
    plain.vm.max_vcpus = vcpus;
    plain.vm.vcpus.resize(static_cast<std::size_t>(vcpus));
    std::iota(plain.vm.vcpus.begin(), plain.vm.vcpus.end(), 0);
    plain.vm.max_memory = plain.vm.memory = kMiB * 700 * vcpus;
    plain.virtio_disks = vcpus % 3;
    plain.vm.name = fmt::format("plain-{}", vcpus);
    requests.push_back(plain);
    AdviceRequest locked = plain;
    locked.vm.name = fmt::format("locked-{}", vcpus);
    locked.vm.memory_locked = true;
    requests.push_back(locked);
    AdviceRequest whole_cores = plain;
    whole_cores.vm.name = fmt::format("whole-cores-{}", vcpus);
    whole_cores.vm.policy.cpu_binding = CpuBinding::kExclusive;
    whole_cores.vm.policy.cpu_policy = CpuPolicy::kFullPCPUs;
    requests.push_back(whole_cores);
    AdviceRequest huge_pages = plain;
    huge_pages.vm.name = fmt::format("huge-pages-{}", vcpus);
    huge_pages.vm.huge_page_size = kMiB * 2;
    requests.push_back(huge_pages);
    AdviceRequest apart = plain;
    apart.vm.name = fmt::format("apart-{}", vcpus);
    apart.vm.max_memory = apart.vm.memory = kGiB * 30;
    apart.vm.policy.consolidate = false;
    requests.push_back(apart);
  }
  return requests;
}

std::vector<std::string> wrong_advice_on(const Topology& topology) {
  const AdviceHost host{.topology = topology};
  std::vector<std::string> wrong;
  for (const AdviceRequest& request : vms_of_all_sizes(topology)) {
    const auto advice = advise(request, host);
    if (!advice) {
      if (topology.home_count() > 0) {
        wrong.push_back(request.vm.name + ": " + advice.error().message);
      }
      continue;
    }
    for (const AdvicePromise promise : kAdvicePromises) {
      if (const auto broken = promise(request, host, *advice)) {
        wrong.push_back(request.vm.name + ": " + *broken);
      }
    }
  }
  return wrong;
}

}  // namespace vmnuma::tests
