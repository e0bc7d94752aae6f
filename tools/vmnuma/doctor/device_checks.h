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
/// PCI device on the nodes its VM lives on, as `host` says, or, where that is not known, on its own
/// node; those of others, which VMs share, on the device's node. Such devices are what VFIO handles
/// interrupts of, the adapters below taps that have a bridge above them (sys/class/net/NAME/
/// tun_flags, drivers/net/tun.c, Linux 6.1) and below macvtaps, and what carries vDPA devices. One
/// finding for each node on which interrupts of a device fire that belong elsewhere, or one that
/// there is none.
[[nodiscard]] std::vector<Finding> check_interrupts(const files::Directory& root,
                                                    const Result<balancer::HostView>& host);

}  // namespace vmnuma::tools
