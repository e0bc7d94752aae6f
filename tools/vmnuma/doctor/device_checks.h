// SPDX-License-Identifier: Apache-2.0
/// The devices that VMs use, read from the host's files.
#pragma once

#include <vector>

#include "balancer/model/view.h"
#include "placement/base/result.h"
#include "stats/files/directory.h"
#include "tools/vmnuma/doctor/finding.h"

namespace vmnuma::tools {

/// Whether the interrupts of devices that VMs use fire where they belong: those of a passed-through
/// PCI device on the nodes that its VM lives on, according to `host`, or if that is unknown, on its
/// own node; those of other devices, which VMs share, on the device's node. Covers the devices with
/// VFIO interrupt handlers, the adapters below taps in a bridge (sys/class/net/NAME/tun_flags,
/// drivers/net/tun.c, Linux 6.1) and below macvtaps, and the carriers of vDPA devices. One finding
/// per node on which interrupts of a device fire that belong elsewhere, or one saying that there is
/// none.
[[nodiscard]] std::vector<Finding> check_interrupts(const files::Directory& root,
                                                    const Result<balancer::HostView>& host);

}  // namespace vmnuma::tools
