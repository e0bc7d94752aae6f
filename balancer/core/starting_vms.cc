// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/starting_vms.h"

#include <algorithm>
#include <utility>

namespace vmnuma::balancer {

namespace {

/// Returns an id for a VM without a name; no UUID generator makes such an id.
VmId unnamed_id(std::uint32_t number) {
  VmId id;
  id.uuid.fill(0xff);
  for (std::size_t byte = 15; byte > 11; --byte) {
    id.uuid[byte] = static_cast<std::uint8_t>(number & 0xffU);
    number >>= 8U;
  }
  return id;
}

bool is_of_size(const VmDescription& vm, std::size_t vcpus, Bytes memory) {
  return vm.vcpus.size() == vcpus && vm.max_memory == memory;
}

/// libvirt asks in MiB, rounded up (virNumaGetAutoPlacementAdvice, util/virnuma.c, 9.0).
Bytes as_asked(Bytes memory) {
  return kMiB * whole_mib(memory);
}

}  // namespace

void StartingVms::add(StartingVm vm) {
  if (vms_.size() == kMostStarting) {
    vms_.erase(vms_.begin());
  }
  vms_.push_back(std::move(vm));
}

StartingVm& StartingVms::announce(const VmDescription& vm, bool asks, std::int64_t epoch) {
  withdraw(vm.id);
  StartingVm starting;
  starting.description = vm;
  starting.description.memory = starting.description.max_memory = as_asked(vm.max_memory);
  starting.asks = asks;
  starting.since_epoch = epoch;
  add(std::move(starting));
  return vms_.back();
}

void StartingVms::withdraw(const VmId& vm) {
  std::erase_if(vms_, [&](const StartingVm& entry) { return entry.description.id == vm; });
}

StartingVm& StartingVms::asking(std::int32_t vcpus, Bytes memory, std::int64_t epoch) {
  const auto announced = std::ranges::find_if(vms_, [&](const StartingVm& vm) {
    return vm.asks && is_of_size(vm.description, static_cast<std::size_t>(vcpus), memory);
  });
  if (announced != vms_.end()) {
    announced->asks = false;
    announced->since_epoch = epoch;
    return *announced;
  }
  StartingVm unnamed;
  unnamed.description.id = unnamed_id(unnamed_++);
  set_size(unnamed.description, vcpus, memory);
  unnamed.asks = false;
  unnamed.since_epoch = epoch;
  add(std::move(unnamed));
  return vms_.back();
}

std::vector<NodeId> StartingVms::appeared(const VmDescription& vm) {
  auto known = std::ranges::find_if(
      vms_, [&](const StartingVm& entry) { return entry.description.id == vm.id; });
  if (known == vms_.end() && vm.placement_auto) {
    known = std::ranges::find_if(vms_, [&](const StartingVm& entry) {
      return entry.description.name.empty() &&
             is_of_size(entry.description, vm.vcpus.size(), as_asked(vm.max_memory));
    });
  }
  if (known == vms_.end()) {
    return {};
  }
  known->description = vm;
  known->asks = false;
  known->appeared = true;
  return known->nodes;
}

void StartingVms::forget_older(std::int64_t epoch) {
  std::erase_if(vms_, [&](const StartingVm& vm) {
    return epoch - vm.since_epoch > (vm.asks ? kAsksWithin : kStartsWithin);
  });
}

}  // namespace vmnuma::balancer
