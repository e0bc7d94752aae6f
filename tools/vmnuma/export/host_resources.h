// SPDX-License-Identifier: Apache-2.0
/// Reads what an export needs from this host in addition to the daemon's answer: the huge pages
/// that are free now, and the PCI devices that guests may get.
///
/// A device counts if it is bound to vfio-pci: others belong to a driver of the host, and nothing
/// shows that guests may have them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "balancer/model/view.h"
#include "stats/files/directory.h"

namespace vmnuma::tools {

/// A PCI device bound to vfio-pci.
struct VfioDevice {
  std::string address;  ///< "0000:3b:00.0"
  std::string kind;     ///< vendor and device as in lspci -n, in lower case: "10de-1eb8"
  NodeId node;
};

struct HostResources {
  /// Free bytes, by node and page size in bytes; those that cannot be read are absent.
  std::map<std::pair<NodeId, std::int64_t>, std::int64_t> free_huge_pages;
  std::vector<VfioDevice> devices;  ///< by address; those without a known node are left out
};

/// Reads the pools that the view contains, and all devices. `root` is the host's root directory.
/// Formats: sys/devices/system/node/nodeN/hugepages/hugepages-SIZEkB/free_hugepages and
/// sys/bus/pci/drivers/vfio-pci/ADDRESS/{vendor,device,numa_node} (Linux 6.1,
/// Documentation/admin-guide/mm/hugetlbpage.rst, Documentation/ABI/testing/sysfs-bus-pci).
[[nodiscard]] HostResources read_host_resources(const files::Directory& root,
                                                const balancer::HostView& host);

}  // namespace vmnuma::tools
