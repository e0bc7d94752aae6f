// SPDX-License-Identifier: Apache-2.0
#include "placement/model/held_memory.h"

namespace vmnuma {

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

}  // namespace vmnuma
