// SPDX-License-Identifier: Apache-2.0
/// Which policy counts for a VM: that of the configuration, and that in its metadata.
///
/// Properties:
///  1. A policy in a domain's metadata goes before the configuration's unless the latter says
///  otherwise.
///  2. One that is wrong anywhere counts nowhere; that is logged once, and once when it is mended.
///  3. A VM whose policy names no strategy has the host's.
///  4. Where nobody can set a VM's memory nodes, memory_mode mask is refused: by `vmnuma set` with
///  the reason, elsewhere it is soft, which is logged once.
#pragma once

#include <vector>

#include "balancer/controller/events.h"
#include "balancer/controller/managed_vm.h"
#include "balancer/core/ledger.h"

namespace vmnuma::balancer {

/// `running` as libvirt tells of them, with the policies that count.
[[nodiscard]] std::vector<placement::VmDescription> with_policies(
    const Settings& settings, std::vector<placement::VmDescription> running);

/// Notes whose policy in the metadata is refused.
void note_refused_policies(const Settings& settings,
                           const std::vector<placement::VmDescription>& running, ManagedVms& vms,
                           Effects& effects);

/// The policy of a VM key by key. `running` as libvirt tells of them.
[[nodiscard]] PolicyView policy_view(const Settings& settings,
                                     const std::vector<placement::VmDescription>& running,
                                     const VmRecord& vm, const ManagedVm& managed);

/// What is to be written into the VM's metadata. Errors: unsupported if policies in metadata do not
/// count, not-found for unknown keys, invalid-argument for values that cannot be.
[[nodiscard]] Result<PolicyWrite> policy_write(const Settings& settings,
                                               const placement::Topology& topology,
                                               const VmRecord& vm, const SetRequest& request);

}  // namespace vmnuma::balancer
