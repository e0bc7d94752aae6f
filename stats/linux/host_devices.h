// SPDX-License-Identifier: Apache-2.0
/// Where the host's devices are attached.
///
/// Problem: a device that a VM uses sits on a node, but what its definition names is often not the
/// device: a bridge, a bond, a VLAN. Approach: passed-through PCI devices are asked for by address;
/// from a network interface the way leads over the kernel's lower_* links down to adapters, from a
/// vDPA device to its parent. Term: an adapter is an interface with a device of its own.
/// Properties: an interface above adapters of several nodes has no node; links in a circle or
/// without end come to an end; bridges with hundreds of taps are looked at once for all VMs.
#pragma once

#include <span>
#include <string_view>

#include "placement/model/domain.h"
#include "placement/model/ids.h"
#include "placement/result.h"
#include "stats/linux/directory.h"

namespace vmnuma::stats {

/// sys/bus/pci/devices/ADDRESS/numa_node: a number and a newline, -1 where the firmware does not
/// say (numa_node_show, drivers/pci/pci-sysfs.c, Linux 6.1). Error: corrupt, quoting the text.
[[nodiscard]] Result<placement::NodeId> parse_numa_node(std::string_view text);

/// The node of a host interface: of the adapter named or of all adapters below it
/// (sys/class/net/NAME/lower_*, Linux 6.1, Documentation/ABI/testing/sysfs-class-net), or of the
/// parent of a vDPA device ("vhost-vdpa-0"). Negative if there is none, several or an unknown one.
/// `name` must be a valid interface name.
[[nodiscard]] placement::NodeId node_of_interface(const Directory& root, std::string_view name);

/// Fills in the nodes of the VMs' devices and host interfaces. `root`: "/" on a live host. A device
/// that is gone, or of which nobody knows it, has none: it then means nothing to any decision.
void read_device_nodes(const Directory& root, std::span<placement::VmDescription> vms);

}  // namespace vmnuma::stats
