// SPDX-License-Identifier: Apache-2.0
#include "placement/memory_qos.h"

#include <algorithm>

namespace vmnuma {

namespace {

Bytes whole_pages(Bytes bytes) {
  return bytes / kLargestPage.value * kLargestPage.value;
}

/// Returns what is charged to the VM's scope if the guest has `guest` bytes: huge pages are not.
Bytes need_of(const VmDescription& vm, Bytes guest, const Options& options) {
  Bytes charged;
  for (const PagesOfSize& pages : memory_by_page_size(vm, guest)) {
    charged += pages.page_size == Bytes{} ? pages.memory : Bytes{};
  }
  return whole_pages(charged + kMiB * options.mem_qos_overhead);
}

std::optional<Bytes> high_of(const VmDescription& vm, Bytes request, Bytes limit, Bytes swap,
                             const Options& options) {
  if (limit <= request || why_not_reclaimable(vm, swap)) {
    return std::nullopt;
  }
  return whole_pages(request + scaled(limit - request, options.mem_qos_throttling_pct, 100));
}

}  // namespace

std::optional<std::string> why_not_reclaimable(const VmDescription& vm, Bytes swap) {
  if (auto held = why_memory_is_held(vm)) {
    return held;
  }
  if (vm.huge_page_size > Bytes{}) {
    return "its memory is on huge pages (<memoryBacking><hugepages/>)";
  }
  if (swap <= Bytes{}) {
    return "the host has no swap";
  }
  return std::nullopt;
}

std::optional<MemoryProtection> protection_of(const VmDescription& vm, Bytes swap,
                                              const Options& options) {
  const Bytes need = need_of(vm, vm.memory, options);
  const Bytes most = need_of(vm, std::max(vm.memory, vm.max_memory), options);
  MemoryProtection protection;
  switch (vm.policy.memory_class) {
    case MemoryClass::kNone:
      return std::nullopt;
    case MemoryClass::kGuaranteed:
      protection.min = need;
      protection.swap_max = Bytes{};
      break;
    case MemoryClass::kBurstable:
      protection.low = need;
      protection.high = high_of(vm, need, most, swap, options);
      break;
    case MemoryClass::kBestEffort:
      protection.high = high_of(vm, Bytes{}, most, swap, options);
      break;
  }
  return protection;
}

}  // namespace vmnuma
