// SPDX-License-Identifier: Apache-2.0
/// Which policy is in effect for a VM: the configuration's, or the one in its metadata.
///
/// Properties:
///  1. A policy in a domain's metadata overrides the configuration's, unless the latter says
///     otherwise.
///  2. A policy with any error is ignored as a whole; that is logged once, and so is its
///     correction.
///  3. A VM without a strategy in its policy has the host's.
///  4. If a VM's memory nodes cannot be set, memory_mode mask is refused: by `vmnuma set` with the
///     reason; elsewhere it is treated as soft, which is logged once.
///  5. A max_per_node does not hold if there are too few nodes for the VM's clients; that is logged
///     once.
#pragma once

#include <string>
#include <vector>

#include "balancer/controller/events.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"
#include "placement/model/snapshot.h"

namespace vmnuma::balancer {

/// Returns `running`, as libvirt reports them, with their effective policies.
[[nodiscard]] std::vector<VmDescription> with_policies(const Settings& settings,
                                                       std::vector<VmDescription> running);

/// Records VMs whose metadata contains a refused policy.
void record_refused_policies(const Settings& settings, const std::vector<VmDescription>& running,
                             ManagedVms& vms, Effects& effects);

/// Why the VM's max_per_node does not hold, as a sentence; empty if it does, or there is none.
[[nodiscard]] std::string unkept_limit_text(const Snapshot& snapshot, const VmState& vm);
/// Records the VMs with such a limit.
void record_unkept_limits(const Snapshot& snapshot, ManagedVms& vms, Effects& effects);

/// The policy of a VM, key by key. `running` is as libvirt reports it.
[[nodiscard]] PolicyView policy_view(const Settings& settings,
                                     const std::vector<VmDescription>& running, const VmRecord& vm,
                                     const ManagedVm& managed);

/// Returns what to write into the VM's metadata. Errors: unsupported if policies in metadata are
/// ignored, not-found for unknown keys, invalid-argument for invalid values.
[[nodiscard]] Result<PolicyWrite> policy_write(const Settings& settings, const Topology& topology,
                                               const VmRecord& vm, const SetRequest& request);

}  // namespace vmnuma::balancer
