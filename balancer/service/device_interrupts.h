// SPDX-License-Identifier: Apache-2.0
/// Where the interrupts of a VM's devices fire, for whoever asks about the VM.
///
/// Problem: the controller knows no files, and reading those of interrupts every epoch for an
/// answer that hardly anybody asks for would be a waste. Approach: what the controller answers is
/// added to when it is asked. A passed-through PCI device is its VM's alone, so its interrupts
/// belong where the VM lives; what carries a mediated device or a network interface serves others,
/// too, so its interrupts belong on its own node. Those of disks are left out: the block layer has
/// a queue for each CPU, whose interrupt fires there by itself. Property: nothing is changed.
#pragma once

#include "balancer/model/view.h"
#include "placement/model/domain.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer {

/// Completes `view`, which is of the VM. `root`: "/" on a live host. Blocks as HostDevices does.
void add_interrupts(ExplainView& view, const placement::VmDescription& vm,
                    const files::Directory& root);

}  // namespace vmnuma::balancer
