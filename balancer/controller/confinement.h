// SPDX-License-Identifier: Apache-2.0
/// VMs whose cgroup keeps them from CPUs that VMs may use.
///
/// Problem: an administrator may give a VM, or a slice of VMs, CPUs of its own: with AllowedCPUs=
/// of systemd, or with a cpuset partition. The kernel refuses pins to other CPUs, or does not obey
/// them. Approach: every epoch what a VM's cgroup allows is compared with the CPUs that VMs may
/// use. A VM that may not use all of those is *confined*, and left alone.
/// Properties:
///  1. A VM of which nobody knows what its cgroup allows is not confined.
///  2. A confined VM lives on the node where its CPUs are if that is one, and nowhere if it has
///  none of the CPUs of VMs: it is no load for any node then.
///  3. Its beginning and its end are told once.
#pragma once

#include "balancer/controller/events.h"
#include "balancer/controller/homes.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

/// All VMs of the sample, before the ledger takes it in.
void note_confined(const placement::Sample& sample, const Ledger& ledger, ManagedVms& vms,
                   Homes& homes, Effects& effects);

}  // namespace vmnuma::balancer
