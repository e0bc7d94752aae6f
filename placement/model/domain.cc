// SPDX-License-Identifier: Apache-2.0
#include "placement/model/domain.h"

#include <map>

#include "placement/model/held_memory.h"

namespace vmnuma::placement {

std::string_view name_of(MemoryMode mode) {
  switch (mode) {
    case MemoryMode::kSoft:
      return "soft";
    case MemoryMode::kMask:
      return "mask";
    case MemoryMode::kHandsOff:
      return "hands-off";
  }
  return "unknown";
}

std::string_view name_of(TopologyPolicy policy) {
  switch (policy) {
    case TopologyPolicy::kNone:
      return "none";
    case TopologyPolicy::kBestEffort:
      return "best-effort";
    case TopologyPolicy::kRestricted:
      return "restricted";
    case TopologyPolicy::kSingleNumaNode:
      return "single-numa-node";
  }
  return "unknown";
}

std::string_view name_of(TopologyScope scope) {
  switch (scope) {
    case TopologyScope::kVm:
      return "vm";
    case TopologyScope::kClient:
      return "client";
  }
  return "unknown";
}

std::string_view name_of(DeviceLocality locality) {
  switch (locality) {
    case DeviceLocality::kStrict:
      return "strict";
    case DeviceLocality::kSocket:
      return "socket";
    case DeviceLocality::kPreferred:
      return "preferred";
    case DeviceLocality::kNone:
      return "none";
  }
  return "unknown";
}

std::string_view name_of(PlacementStrategy strategy) {
  switch (strategy) {
    case PlacementStrategy::kHost:
      return "host";
    case PlacementStrategy::kLeastLostTime:
      return "least-lost-time";
    case PlacementStrategy::kMostAllocated:
      return "MostAllocated";
    case PlacementStrategy::kLeastAllocated:
      return "LeastAllocated";
    case PlacementStrategy::kDistributeEvenly:
      return "DistributeEvenly";
  }
  return "unknown";
}

std::string_view name_of(CpuBinding binding) {
  switch (binding) {
    case CpuBinding::kNode:
      return "node";
    case CpuBinding::kShare:
      return "share";
    case CpuBinding::kExclusive:
      return "exclusive";
  }
  return "unknown";
}

std::string_view name_of(CpuPolicy policy) {
  switch (policy) {
    case CpuPolicy::kNone:
      return "none";
    case CpuPolicy::kFullPCPUs:
      return "FullPCPUs";
    case CpuPolicy::kSpreadByPCPUs:
      return "SpreadByPCPUs";
  }
  return "unknown";
}

std::string_view name_of(CpuClass cpu_class) {
  switch (cpu_class) {
    case CpuClass::kNone:
      return "none";
    case CpuClass::kLatency:
      return "latency";
    case CpuClass::kBatch:
      return "batch";
  }
  return "unknown";
}

std::string_view name_of(MemoryClass memory_class) {
  switch (memory_class) {
    case MemoryClass::kNone:
      return "none";
    case MemoryClass::kGuaranteed:
      return "guaranteed";
    case MemoryClass::kBurstable:
      return "burstable";
    case MemoryClass::kBestEffort:
      return "best-effort";
  }
  return "unknown";
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

std::optional<std::string> why_memory_stays(const VmDescription& vm) {
  if (auto held = why_memory_is_held(vm)) {
    return held;
  }
  switch (vm.numatune) {
    case NumatuneMode::kStrict:
      return "its numatune mode is strict, libvirt bound the memory at start";
    case NumatuneMode::kPreferred:
      return "its numatune mode is preferred, libvirt bound the memory at start";
    case NumatuneMode::kInterleave:
      return "its numatune mode is interleave, libvirt bound the memory at start";
    case NumatuneMode::kNone:
    case NumatuneMode::kRestrictive:
      break;
  }
  return std::nullopt;
}

}  // namespace vmnuma::placement
