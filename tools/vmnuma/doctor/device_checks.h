// SPDX-License-Identifier: Apache-2.0
/// Checks the devices that VMs use, from the host's files.
#pragma once

#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// Checks whether the interrupts of devices that VMs use fire on the right nodes: those of a
/// passed-through PCI device on the nodes on which its VM lives according to `host` or, if these
/// are unknown, on the device's own node; those of other devices, which VMs share, on the device's
/// node. Covers the devices with VFIO interrupt handlers, the adapters below taps in a bridge
/// (sys/class/net/NAME/tun_flags, drivers/net/tun.c, Linux 6.1) and below macvtaps, and the
/// carriers of vDPA devices. Returns one finding per node on which a device's interrupts fire
/// although they belong elsewhere, or one finding that there is none.
[[nodiscard]] std::vector<Finding> check_interrupts(const files::Directory& root,
                                                    const Result<balancer::HostView>& host);

}  // namespace vmnuma::tools
