// SPDX-License-Identifier: Apache-2.0
/// VMs whose cgroup denies them some of the CPUs that VMs may use.
///
/// Problem: an administrator may give a VM, or a slice of VMs, CPUs of its own: with AllowedCPUs=
/// of systemd, or with a cpuset partition. The kernel then rejects pins to other CPUs, or ignores
/// them. Approach: every epoch the CPUs that a VM's cgroup allows are compared with those that VMs
/// may use. A VM that may not use all of the latter is *confined*, and left alone.
/// Properties:
///  1. A VM is not confined as long as it is unknown what its cgroup allows.
///  2. A confined VM's home is the node of its CPUs if they are all on one node. If it has none of
///     the CPUs that VMs may use, it has no home and is no load for any node.
///  3. The beginning and the end of a confinement are logged once.
#pragma once

#include "balancer/controller/events.h"
#include "balancer/controller/homes.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

/// Checks all VMs of the sample. To be called before the ledger takes the sample in.
void record_confined(const Sample& sample, const Ledger& ledger, ManagedVms& vms, Homes& homes,
                     Effects& effects);

}  // namespace vmnuma::balancer
