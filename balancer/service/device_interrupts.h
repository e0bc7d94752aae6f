// SPDX-License-Identifier: Apache-2.0
/// Where the interrupts of a VM's devices fire, for questions about the VM.
///
/// Problem: the controller reads no files, and it would be a waste to read those of interrupts
/// every epoch for an answer that is rarely requested. Approach: the controller's answer is
/// completed when it is requested. A passed-through PCI device belongs to its VM alone, so its
/// interrupts belong where the VM lives; the device behind a mediated device or a network interface
/// serves others too, so its interrupts belong on its own node. Those of disks are left out: the
/// block layer has a queue for each CPU, and the queue's interrupt fires there anyway. Property:
/// nothing is changed.
#pragma once

#include "balancer/model/view.h"
#include "placement/model/domain.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer {

/// Completes `view` of the VM. `root`: "/" on a live host. Blocks as HostDevices does.
void add_interrupts(ExplainView& view, const VmDescription& vm, const files::Directory& root);

}  // namespace vmnuma::balancer
