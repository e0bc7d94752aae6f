// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/guarantees.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "balancer/controller/vm_policies.h"
#include "placement/memory_room.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

/// What the VM needs in pages of that size; for ordinary pages this includes QEMU's overhead.
Bytes need_of(const VmDescription& vm, Bytes page_size, const Options& options) {
  Bytes need = page_size == Bytes{} ? kMiB * options.mem_qos_overhead : Bytes{};
  for (const PagesOfSize& pages : memory_by_page_size(vm)) {
    need += pages.page_size == page_size ? pages.memory : Bytes{};
  }
  return need;
}

std::string pages_text(Bytes page_size) {
  return page_size == Bytes{} ? std::string("memory")
                              : fmt::format("huge pages of {} KiB", page_size.value / 1024);
}

}  // namespace

std::vector<NodeId> homes_of(const VmRecord& vm) {
  std::vector<NodeId> homes;
  for (const ClientRecord& client : vm.clients) {
    if (client.home.value >= 0 && std::ranges::find(homes, client.home) == homes.end()) {
      homes.push_back(client.home);
    }
  }
  return homes;
}

std::vector<Bytes> Guarantees::capacity(Bytes page_size) const {
  std::vector<Bytes> capacity;
  for (const Node& node : ledger_.topology().nodes) {
    capacity.push_back(page_size == Bytes{}
                           ? outside_pools(node) - reserve_of(node.id, node.memory,
                                                              settings_.options,
                                                              settings_.reserved_memory)
                           : page_size * pages_of(node.huge_pages, page_size) -
                                 reserved_of(node.id, page_size, settings_.reserved_memory));
  }
  return capacity;
}

std::vector<NodeIndex> Guarantees::group_of(const std::vector<NodeIndex>& homes, Bytes page_size,
                                            Bytes memory) const {
  const std::vector<Bytes> capacity = this->capacity(page_size);
  std::vector<NodeIndex> nodes(capacity.size());
  std::iota(nodes.begin(), nodes.end(), NodeIndex{0});
  const auto is_home = [&homes](NodeIndex node) {
    return std::ranges::find(homes, node) != homes.end();
  };
  std::ranges::stable_sort(nodes, {}, [&](NodeIndex node) {
    return is_home(node) || homes.empty() ? 0 : ledger_.topology().distance(homes.front(), node);
  });
  std::vector<NodeIndex> group;
  Bytes sum;
  for (const NodeIndex node : nodes) {
    if (!is_home(node) && sum >= memory) {
      break;
    }
    group.push_back(node);
    sum += std::max(capacity[node], Bytes{});
  }
  return group;
}

void Guarantees::keep_for_starting(KeptMemory& kept, Bytes page_size, const VmId& except) const {
  for (const StartingVm& starting : starting_.all()) {
    const VmId& id = starting.description.id;
    const VmRecord* running = ledger_.find(id);
    if (id == except || (running != nullptr && !homes_of(*running).empty())) {
      continue;
    }
    const VmDescription vm = with_policies(settings_, {starting.description}).front();
    const std::vector<NodeIndex> homes = ledger_.topology().indices_of(starting.homes);
    const Bytes need = need_of(vm, page_size, settings_.options);
    if (vm.policy.memory_class == MemoryClass::kGuaranteed && !homes.empty()) {
      (void)kept.keep(group_of(homes, page_size, need), need);  // otherwise it is not guaranteed
    }
  }
}

KeptMemory Guarantees::kept(Bytes page_size, const VmId& except) const {
  KeptMemory kept(this->capacity(page_size));
  for (const auto& [id, vm] : ledger_.vms()) {
    const std::vector<NodeIndex> homes = ledger_.topology().indices_of(homes_of(vm));
    if (id != except && vm.description.policy.memory_class == MemoryClass::kGuaranteed &&
        !homes.empty()) {
      const Bytes need = need_of(vm.description, page_size, settings_.options);
      (void)kept.keep(group_of(homes, page_size, need), need);  // otherwise it is not guaranteed
    }
  }
  keep_for_starting(kept, page_size, except);
  return kept;
}

std::optional<std::string> Guarantees::refusal(const VmDescription& vm,
                                               const std::vector<NodeIndex>& nodes) const {
  std::vector<Bytes> sizes{Bytes{}};
  for (const PagesOfSize& pages : memory_by_page_size(vm)) {
    if (pages.page_size > Bytes{}) {
      sizes.push_back(pages.page_size);
    }
  }
  for (const Bytes size : sizes) {
    const Bytes need = need_of(vm, size, settings_.options);
    KeptMemory kept = this->kept(size, vm.id);
    const std::vector<NodeIndex> group = group_of(nodes, size, need);
    if (kept.keep(group, need)) {
      continue;
    }
    std::vector<NodeId> ids = ledger_.topology().ids_of(group);
    std::ranges::sort(ids);
    return fmt::format(
        "memory_class is 'guaranteed', but the VM needs {} MiB of {}, and nodes {} have only {} "
        "MiB left after what is guaranteed to others and kept for the system",
        need.value / kMiB.value, pages_text(size), to_list(ids),
        kept.most(group).value / kMiB.value);
  }
  return std::nullopt;
}

}  // namespace vmnuma::balancer
