// SPDX-License-Identifier: Apache-2.0
/// Where the host's PCI devices are attached.
#pragma once

#include <string_view>

#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/result.h"
#include "stats/linux/directory.h"

namespace vmnuma::stats {

/// sys/bus/pci/devices/ADDRESS/numa_node: a number and a newline, -1 where the firmware does not
/// say (numa_node_show, drivers/pci/pci-sysfs.c, Linux 6.1). Error: corrupt, quoting the text.
[[nodiscard]] Result<placement::NodeId> parse_numa_node(std::string_view text);

/// Fills in the nodes of the VM's passed-through devices. `root`: "/" on a live host. A device that
/// is gone, or of which nobody knows it, has none: it then means nothing to any decision.
void read_device_nodes(const Directory& root, placement::VmDescription& vm);

}  // namespace vmnuma::stats
