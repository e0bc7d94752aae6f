// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/pci_devices.h"

#include <charconv>
#include <string>

#include "stats/linux/read_parsed.h"

namespace vmnuma::stats {

Result<placement::NodeId> parse_numa_node(std::string_view text) {
  std::string_view number = text;
  if (number.ends_with('\n')) {
    number.remove_suffix(1);
  }
  placement::NodeId node;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), node.value);
  if (error != std::errc{} || end != number.data() + number.size() || node.value < -1) {
    return failure(ErrorCode::kCorrupt, "'" + std::string(text) + "' is no node of a device");
  }
  return node;
}

void read_device_nodes(const Directory& root, placement::VmDescription& vm) {
  for (placement::PciDevice& device : vm.pci_devices) {
    device.node =
        read_parsed(root, "sys/bus/pci/devices/" + device.address + "/numa_node", parse_numa_node)
            .value_or(placement::NodeId{});
  }
}

}  // namespace vmnuma::stats
