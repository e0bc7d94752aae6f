// SPDX-License-Identifier: Apache-2.0
#include "placement/model/domain.h"

#include <algorithm>
#include <map>

#include "placement/base/sorted.h"

namespace vmnuma {

std::vector<CpuId> pinned_cpus(const std::vector<Pin>& pins, std::int32_t number) {
  const auto found = std::ranges::find(pins, number, &Pin::number);
  return found == pins.end() ? std::vector<CpuId>{} : found->cpus;
}

void set_size(VmDescription& vm, std::int32_t vcpus, Bytes memory) {
  vm.vcpus.clear();
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    vm.vcpus.push_back(vcpu);
  }
  vm.max_vcpus = vcpus;
  vm.memory = vm.max_memory = memory;
}

std::string owner_of(const VmDescription& vm) {
  if (!vm.policy.owner.empty()) {
    return vm.policy.owner;
  }
  return vm.nova_project.name.empty() ? vm.nova_project.uuid : vm.nova_project.name;
}

bool is_owned_by(const VmDescription& vm, std::string_view owner) {
  if (owner.empty() || !vm.policy.owner.empty()) {
    return !owner.empty() && vm.policy.owner == owner;
  }
  return vm.nova_project.name == owner || vm.nova_project.uuid == owner;
}

std::vector<PagesOfSize> memory_by_page_size(const VmDescription& vm) {
  std::map<Bytes, Bytes> by_size;
  Bytes rest = vm.max_memory;
  for (const GuestCell& cell : vm.cells) {
    by_size[cell.page_size.value_or(vm.huge_page_size)] += cell.memory;
    rest -= cell.memory;
  }
  if (rest > Bytes{}) {
    by_size[vm.huge_page_size] += rest;
  }
  std::vector<PagesOfSize> all;
  for (const auto& [size, memory] : by_size) {
    if (memory > Bytes{}) {
      all.push_back({size, memory});
    }
  }
  return all;
}

std::vector<PagesOfSize> memory_by_page_size(const VmDescription& vm, Bytes part) {
  std::vector<PagesOfSize> pages_of_vm = memory_by_page_size(vm);
  const Bytes all = sum_of(pages_of_vm, &PagesOfSize::memory);
  for (PagesOfSize& pages : pages_of_vm) {
    pages.memory = scaled(part, pages.memory.value, all.value);
    if (pages.page_size > Bytes{}) {
      pages.memory = pages.page_size * divided_up(pages.memory.value, pages.page_size.value);
    }
  }
  return pages_of_vm;
}

std::optional<Bytes> other_page_size(const VmDescription& vm,
                                     const std::vector<std::int32_t>& cells) {
  std::optional<Bytes> size;
  for (const GuestCell& cell : vm.cells) {
    if (std::ranges::find(cells, cell.id) == cells.end() || cell.memory == Bytes{}) {
      continue;
    }
    const Bytes its = cell.page_size.value_or(vm.huge_page_size);
    if (size.value_or(its) != its) {
      return std::nullopt;
    }
    size = its;
  }
  return size == vm.huge_page_size ? std::nullopt : size;
}

std::vector<NodeId> bound_nodes(const VmDescription& vm, const std::vector<std::int32_t>& cells) {
  std::vector<CellBinding> bindings;
  for (const GuestCell& cell : vm.cells) {
    if (cells.empty() || std::ranges::find(cells, cell.id) != cells.end()) {
      bindings.push_back(cell.binding.value_or(CellBinding{vm.numatune, vm.numatune_nodes}));
    }
  }
  if (bindings.empty()) {
    bindings.push_back({vm.numatune, vm.numatune_nodes});
  }
  const bool follows = vm.policy.memory_mode == MemoryMode::kMask;
  std::vector<NodeId> nodes;
  for (const CellBinding& binding : bindings) {
    const bool binds = binding.mode == NumatuneMode::kStrict ||
                       (binding.mode == NumatuneMode::kRestrictive && !follows);
    if (!binds || vm.numatune_auto || binding.nodes.empty()) {
      return {};
    }
    nodes.insert(nodes.end(), binding.nodes.begin(), binding.nodes.end());
  }
  return sorted_unique(std::move(nodes));
}

std::optional<std::string> why_memory_is_held(const VmDescription& vm) {
  if (vm.policy.memory_mode == MemoryMode::kHandsOff) {
    return "its memory mode is hands-off";
  }
  if (!vm.pci_devices.empty()) {
    return "PCI device " + vm.pci_devices.front().address +
           " is passed through, VFIO pins all memory";
  }
  if (!vm.mediated_devices.empty()) {
    return "its memory is pinned by mediated device " + vm.mediated_devices.front().uuid;
  }
  if (!vm.memory_pinned_by.empty()) {
    return "its memory is pinned by " + vm.memory_pinned_by;
  }
  if (vm.memory_locked) {
    return "its memory is locked (<memoryBacking><locked/>)";
  }
  return std::nullopt;
}

std::optional<std::string> why_memory_stays(const VmDescription& vm) {
  if (auto held = why_memory_is_held(vm)) {
    return held;
  }
  switch (vm.numatune) {
    case NumatuneMode::kStrict:
    case NumatuneMode::kPreferred:
    case NumatuneMode::kInterleave:
      return "its numatune mode is " + std::string(name_of(vm.numatune)) +
             ", libvirt bound the memory at start";
    case NumatuneMode::kNone:
    case NumatuneMode::kRestrictive:
      break;
  }
  return std::nullopt;
}

}  // namespace vmnuma
