// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/host_devices.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stats/linux/read_parsed.h"

namespace vmnuma::stats {
namespace {

using placement::NodeId;

constexpr std::string_view kLower = "lower_";
// A bridge over a VLAN over a bond is three steps; the kernel allows eight (MAX_NEST_DEV).
constexpr int kMostSteps = 8;

/// Of a device in sysfs; those of virtio, USB and the like have no file of their own, what carries
/// them has one.
NodeId node_at(const Directory& root, const std::string& device) {
  for (const char* file : {"/numa_node", "/../numa_node"}) {
    const Result<NodeId> node = read_parsed(root, device + file, parse_numa_node);
    if (node) {
      return *node;
    }
  }
  return NodeId{};
}

/// Adds the nodes of the adapters at and below the interface; unknown ones are negative.
void add_nodes_below(const Directory& root, const std::string& name, int steps,
                     std::set<std::string>& seen, std::set<NodeId>& nodes) {
  if (steps > kMostSteps || !seen.insert(name).second) {
    return;
  }
  const auto interface = root.directory("sys/class/net/" + name);
  if (!interface) {
    return;
  }
  if (interface->directory("device")) {
    nodes.insert(node_at(*interface, "device"));
    return;
  }
  for (const std::string& entry : interface->names().value_or(std::vector<std::string>{})) {
    if (entry.starts_with(kLower)) {
      add_nodes_below(root, entry.substr(kLower.size()), steps + 1, seen, nodes);
    }
  }
}

/// The bus's device that the character device of this name belongs to, if there is one.
std::optional<NodeId> node_of_vdpa(const Directory& root, const std::string& name) {
  const std::string bus = "sys/bus/vdpa/devices";
  const auto devices = root.directory(bus);
  if (!devices) {
    return std::nullopt;
  }
  const std::string in_it = "/" + name;
  for (const std::string& device : devices->names().value_or(std::vector<std::string>{})) {
    if (devices->directory(device + in_it)) {
      return node_at(*devices, device);
    }
  }
  return std::nullopt;
}

}  // namespace

Result<NodeId> parse_numa_node(std::string_view text) {
  std::string_view number = text;
  if (number.ends_with('\n')) {
    number.remove_suffix(1);
  }
  NodeId node;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), node.value);
  if (error != std::errc{} || end != number.data() + number.size() || node.value < -1) {
    return failure(ErrorCode::kCorrupt, "'" + std::string(text) + "' is no node of a device");
  }
  return node;
}

NodeId node_of_interface(const Directory& root, std::string_view name) {
  const std::string owned(name);
  if (const auto node = node_of_vdpa(root, owned)) {
    return *node;
  }
  std::set<std::string> seen;
  std::set<NodeId> nodes;
  add_nodes_below(root, owned, 0, seen, nodes);
  return nodes.size() == 1 ? *nodes.begin() : NodeId{};
}

void read_device_nodes(const Directory& root, std::span<placement::VmDescription> vms) {
  std::map<std::string, NodeId> interfaces;
  for (placement::VmDescription& vm : vms) {
    for (placement::PciDevice& device : vm.pci_devices) {
      device.node =
          read_parsed(root, "sys/bus/pci/devices/" + device.address + "/numa_node", parse_numa_node)
              .value_or(NodeId{});
    }
    for (placement::HostInterface& interface : vm.host_interfaces) {
      const auto [known, is_new] = interfaces.try_emplace(interface.name);
      if (is_new) {
        known->second = node_of_interface(root, interface.name);
      }
      interface.node = known->second;
    }
  }
}

}  // namespace vmnuma::stats
