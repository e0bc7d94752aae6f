// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/host_state.h"

#include <algorithm>

namespace vmnuma::tools {

namespace {

constexpr std::int64_t kCopyTimeUs = 200;
constexpr std::int64_t kBusyPct = 20;

}  // namespace

SimVm* HostState::find(const VmId& vm) {
  const auto found = vms.find(vm);
  return found == vms.end() ? nullptr : &found->second;
}

std::vector<std::int32_t> HostState::vcpus_on(const VmId& vm) const {
  std::vector<std::int32_t> count(nodes.size());
  for (const SimVcpu& vcpu : vms.at(vm).vcpus) {
    if (vcpu.node != kNoNode) {
      ++count[vcpu.node];
    }
  }
  return count;
}

bool HostState::memory_may_be_on(const SimVm& vm, NodeIndex node) const {
  const std::vector<NodeId>& bound = vm.description.numatune_nodes;
  const NumatuneMode mode = vm.description.numatune;
  return mode == NumatuneMode::kNone || mode == NumatuneMode::kPreferred ||
         std::ranges::find(bound, topology.nodes[node].id) != bound.end();
}

std::vector<NodeIndex> HostState::memory_nodes_for(const SimVm& vm) const {
  std::vector<NodeIndex> allowed;
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    if (memory_may_be_on(vm, node)) {
      allowed.push_back(node);
    }
  }
  return allowed;
}

Microseconds HostState::copy_time(NodeIndex from, NodeIndex to) const {
  return {kCopyTimeUs * topology.distance(from, to) / kLocalDistance};
}

void HostState::record_copy(NodeIndex from, NodeIndex to, CpuTime time) {
  nodes[from].moved += kSimPage;
  nodes[to].moved += kSimPage;
  nodes[to].moving += time;
}

bool HostState::is_busy(const SimVm& vm, std::int64_t page, std::uint64_t manner) const {
  Random random = random_for(seed + manner, (static_cast<std::uint64_t>(vm.owner) << 40U) +
                                                static_cast<std::uint64_t>(page));
  return vm.pages_busy && random.below(100) < kBusyPct;
}

void set_pin(std::vector<Pin>& pins, std::int32_t number, const std::vector<CpuId>& cpus) {
  const auto place = std::ranges::lower_bound(pins, number, {}, &Pin::number);
  if (place != pins.end() && place->number == number) {
    place->cpus = cpus;
  } else {
    pins.insert(place, {number, cpus});
  }
}

std::size_t cell_of(const SimVm& vm, std::size_t vcpu) {
  const auto cells = static_cast<std::size_t>(std::max(vm.spec.cells, 1));
  return vcpu * cells / static_cast<std::size_t>(vm.spec.vcpus);
}

}  // namespace vmnuma::tools
