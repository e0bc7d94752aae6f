// SPDX-License-Identifier: Apache-2.0
/// What advice.h promises, on generated hosts and VMs.
#include <algorithm>
#include <numeric>

#include "placement/advice/advise.h"
#include "placement/advice/common_host.h"
#include "placement/advice/warnings.h"
#include "placement/clients.h"
#include "placement/model/held_memory.h"
#include "tests/property/any_host.h"
#include "tests/support/property.h"

namespace vmnuma::placement {
namespace {

using tests::any_host;
using tests::AnyHost;
using tests::Draw;

struct AdviceCase {
  AdviceRequest request;
  AdviceHost host;
};

AdviceCase any_advice_case(const AnyHost& any) {
  Draw draw(any.seed, 977);
  AdviceCase drawn;
  drawn.host.topology = any.snapshot().topology;
  drawn.host.prefer_ht = draw.one_in(6);
  VmDescription& vm = drawn.request.vm;
  vm.name = "guest";
  vm.max_vcpus = static_cast<std::int32_t>(draw.between(1, draw.one_in(3) ? 200 : 24));
  vm.vcpus.resize(
      static_cast<std::size_t>(draw.one_in(4) ? draw.between(1, vm.max_vcpus) : vm.max_vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  vm.max_memory = (draw.one_in(8) ? kKiB : kMiB) * draw.between(1, 300'000);
  vm.memory = vm.max_memory;
  if (draw.one_in(3)) {
    vm.huge_page_size = draw.one_in(2) ? kGiB : kMiB * 2;
  }
  vm.memory_locked = draw.one_in(4);
  if (draw.one_in(4)) {
    vm.pci_devices = {{"0000:3b:00.0", NodeId{static_cast<std::int32_t>(draw.up_to(8))}}};
  }
  constexpr NumatuneMode kModes[] = {NumatuneMode::kStrict, NumatuneMode::kPreferred,
                                     NumatuneMode::kRestrictive};
  if (draw.one_in(3)) {
    vm.numatune = kModes[draw.up_to(2)];
    for (const Node& node : drawn.host.topology.nodes) {
      if (draw.one_in(2)) {
        vm.numatune_nodes.push_back(node.id);
      }
    }
  }
  vm.policy.consolidate = !draw.one_in(4);
  vm.policy.prefer_ht = draw.one_in(4);
  vm.policy.max_per_node = draw.one_in(5) ? static_cast<std::int32_t>(draw.between(1, 12)) : 0;
  if (draw.one_in(4)) {
    vm.policy.cpu_binding = CpuBinding::kExclusive;
    vm.policy.cpu_policy = CpuPolicy::kFullPCPUs;
  }
  drawn.request.memory_hotplug = draw.one_in(5);
  drawn.request.virtio_disks = static_cast<std::int32_t>(draw.up_to(3));
  drawn.request.is_x86 = draw.one_in(2);
  return drawn;
}

/// The VM whose definition is as advised.
AdviceRequest applied(const AdviceRequest& request, const Advice& advice) {
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
  return after;
}

/// What it has of pages of that size; zero: ordinary ones.
Bytes memory_of(const Node& node, Bytes page_size) {
  for (const HugePagePool& pool : node.huge_pages) {
    if (pool.page_size == page_size) {
      return page_size * pool.pages;
    }
  }
  return page_size == Bytes{} ? node.memory : Bytes{};
}

RC_GTEST_PROP(AdviceProperty, CellsHaveEveryVcpuOnceAndAllMemory, ()) {
  const AdviceCase drawn = any_advice_case(*any_host(12, 0));
  const auto advice = advise(drawn.request, drawn.host);
  RC_PRE(advice.has_value());
  std::int32_t next = 0;
  Bytes sum;
  std::size_t least = static_cast<std::size_t>(advice->vcpus);
  std::size_t most = 0;
  for (const GuestCell& cell : advice->cells) {
    for (const std::int32_t vcpu : cell.vcpus) {
      RC_ASSERT(vcpu == next++);
    }
    RC_ASSERT(cell.memory > Bytes{});
    least = std::min(least, cell.vcpus.size());
    most = std::max(most, cell.vcpus.size());
    sum += cell.memory;
  }
  if (!advice->cells.empty()) {
    RC_ASSERT(next == advice->vcpus);
    RC_ASSERT(sum == advice->memory);
    const Bytes unit = std::max(drawn.request.vm.huge_page_size, kMiB);
    const auto cells = static_cast<std::int64_t>(advice->cells.size());
    RC_ASSERT(advice->memory >= drawn.request.vm.max_memory);
    RC_ASSERT(advice->memory - drawn.request.vm.max_memory < unit * cells);
    RC_ASSERT(most - least <= static_cast<std::size_t>(advice->threads));
  }
}

RC_GTEST_PROP(AdviceProperty, EveryCellFitsANodeOrIsSaidNotTo, ()) {
  const AdviceCase drawn = any_advice_case(*any_host(12, 0));
  const auto advice = advise(drawn.request, drawn.host);
  RC_PRE(advice.has_value());
  const AdviceRequest after = applied(drawn.request, *advice);
  const auto warned = warnings_about(after.vm, drawn.host);
  const bool said = std::any_of(warned.begin(), warned.end(), [](const AdviceWarned& one) {
    return one.kind == AdviceWarning::kCellTooLarge || one.kind == AdviceWarning::kHugePagesTooFew;
  });
  std::vector<GuestCell> cells = advice->cells;
  if (cells.empty()) {
    cells.push_back({0, std::vector<std::int32_t>(static_cast<std::size_t>(advice->vcpus)),
                     drawn.request.vm.max_memory});
  }
  for (const GuestCell& cell : cells) {
    const bool fits = std::any_of(
        drawn.host.topology.nodes.begin(), drawn.host.topology.nodes.end(), [&](const Node& node) {
          return static_cast<std::size_t>(node.cpu_count()) >= cell.vcpus.size() &&
                 memory_of(node, drawn.request.vm.huge_page_size) >= cell.memory;
        });
    RC_ASSERT(fits || said);
  }
}

RC_GTEST_PROP(AdviceProperty, SocketsMultiplyToTheVcpusAndLieInOneCell, ()) {
  const AdviceCase drawn = any_advice_case(*any_host(12, 0));
  const auto advice = advise(drawn.request, drawn.host);
  RC_PRE(advice.has_value());
  RC_ASSERT(advice->sockets * advice->dies * advice->cores * advice->threads == advice->vcpus);
  for (const AdviceWarned& warned :
       warnings_about(applied(drawn.request, *advice).vm, drawn.host)) {
    RC_ASSERT(warned.kind != AdviceWarning::kSocketAcrossCells);
    RC_ASSERT(warned.kind != AdviceWarning::kNoCells);
    RC_ASSERT(warned.kind != AdviceWarning::kThreadsWithoutSmt);
    RC_ASSERT(warned.kind != AdviceWarning::kStrictWithoutRoom);
  }
}

RC_GTEST_PROP(AdviceProperty, AVmThatIsAsAdvisedIsAdvisedTheSame, ()) {
  const AdviceCase drawn = any_advice_case(*any_host(12, 0));
  auto first = advise(drawn.request, drawn.host);
  RC_PRE(first.has_value());
  auto second = advise(applied(drawn.request, *first), drawn.host);
  RC_ASSERT(second.has_value());
  first->lines.clear();
  second->lines.clear();
  RC_ASSERT(*first == *second);
}

RC_GTEST_PROP(AdviceProperty, AVmThatIsAsAdvisedIsSplitIntoItsCells, ()) {
  const AdviceCase drawn = any_advice_case(*any_host(12, 0));
  const auto advice = advise(drawn.request, drawn.host);
  RC_PRE(advice.has_value());
  VmDescription vm = applied(drawn.request, *advice).vm;
  vm.vcpus.resize(static_cast<std::size_t>(vm.max_vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  const auto clients = split_into_clients(vm, drawn.host.topology, drawn.host.prefer_ht);
  const std::size_t homes = allowed_homes(drawn.host.topology, vm).size();
  RC_ASSERT(advice->cells.size() <= homes);
  if (clients.size() > homes) {
    return;  // not a node for each
  }
  RC_ASSERT(clients.size() == std::max<std::size_t>(advice->cells.size(), 1));
  for (std::size_t i = 0; i < advice->cells.size(); ++i) {
    RC_ASSERT(clients[i].vcpus == advice->cells[i].vcpus);
    RC_ASSERT(clients[i].memory == advice->cells[i].memory);
  }
}

RC_GTEST_PROP(AdviceProperty, WhatFitsTheCommonHostFitsEachHost, ()) {
  const AdviceCase one = any_advice_case(*any_host(8, 0));
  const AdviceCase other = any_advice_case(*any_host(8, 0));
  const AdviceHost common = common_host({one.host, other.host});
  RC_ASSERT(common == common_host({other.host, one.host}));
  for (const Node& least : common.topology.nodes) {
    for (const AdviceHost* host : {&one.host, &other.host}) {
      for (NodeIndex node = 0; node < host->topology.nodes.size(); ++node) {
        if (host->topology.can_be_home(node)) {
          RC_ASSERT(host->topology.nodes[node].core_count() >= least.core_count());
          RC_ASSERT(host->topology.nodes[node].cpu_count() >= least.cpu_count());
          RC_ASSERT(host->topology.nodes[node].memory >= least.memory);
        }
      }
    }
  }
}

}  // namespace
}  // namespace vmnuma::placement
