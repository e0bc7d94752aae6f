// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/export/host_resources.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "stats/devices/host_devices.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/node_formats.h"

namespace vmnuma::tools {

namespace {

constexpr std::string_view kVfioDevices = "sys/bus/pci/drivers/vfio-pci";

std::string_view without_newline(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

/// "0x10de\n" -> "10de".
std::optional<std::string> pci_id(std::string_view text) {
  text = without_newline(text);
  const auto is_hexadecimal = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  };
  if (text.size() != 6 || !text.starts_with("0x") ||
      !std::all_of(text.begin() + 2, text.end(), is_hexadecimal)) {
    return std::nullopt;
  }
  return std::string(text.substr(2));
}

std::vector<VfioDevice> read_devices(const files::Directory& root) {
  const auto driver = root.directory(kVfioDevices);
  if (!driver) {
    return {};  // the driver is not loaded
  }
  std::vector<VfioDevice> devices;
  for (const std::string& address : driver->names().value_or(std::vector<std::string>{})) {
    const auto read = [&](std::string_view name) {
      return driver->read(fmt::format("{}/{}", address, name)).value_or("");
    };
    // The driver's own files are next to its devices.
    const auto vendor =
        address.find(':') == std::string::npos ? std::nullopt : pci_id(read("vendor"));
    const auto device = vendor ? pci_id(read("device")) : std::nullopt;
    const auto node = stats::parse_numa_node(read("numa_node"));
    if (device && node && node->value >= 0) {
      devices.push_back({address, *vendor + "-" + *device, *node});
    }
  }
  return devices;
}

}  // namespace

HostResources read_host_resources(const files::Directory& root, const balancer::HostView& host) {
  HostResources resources;
  for (const balancer::NodeView& node : host.nodes) {
    for (const balancer::HugePagesView& pool : node.huge_pages) {
      const auto free = files::read_parsed(
          root,
          fmt::format("sys/devices/system/node/node{}/hugepages/hugepages-{}kB/free_hugepages",
                      node.node.value, pool.page_bytes / 1024),
          stats::parse_page_count);
      if (free) {
        resources.free_huge_pages[{node.node, pool.page_bytes}] = *free * pool.page_bytes;
      }
    }
  }
  resources.devices = read_devices(root);
  return resources;
}

}  // namespace vmnuma::tools
