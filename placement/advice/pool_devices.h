// SPDX-License-Identifier: Apache-2.0
/// Chooses the devices that a VM gets from the host's pools.
///
/// Problem: where several devices are interchangeable, an administrator writes one into each
/// definition by hand and has to know which one is free and on which node it is. Approach: the
/// caller states which VM has which device, by definition or while it runs. Of the others the VM is
/// given the one nearest to where it may live, then nearest to the devices that it already has,
/// then on the node with the most free memory. There is no other record: a device is taken if a
/// definition has it.
///
/// Properties:
///  1. No device is given that another VM has, and none twice.
///  2. A VM keeps the devices that it has; one that another VM has, too, is replaced.
///  3. A VM that has what its policy asks for is given the same again.
///  4. No free device of the pool is nearer to where the VM may live than the one that is given.
#pragma once

#include <vector>

#include "placement/advice/advice.h"
#include "placement/base/result.h"

namespace vmnuma {

struct PoolChoice {
  AdvisedDevice device;
  NodeId node;  ///< negative: not known
  std::string pool;
  std::string reason;  ///< a sentence
};

/// Returns a device for each pool that the VM's policy names, in its order. `homes` is where the VM
/// may live. Errors: not-found (the host has no such pool), no-space (no device of it is free;
/// names the VMs that have them).
[[nodiscard]] Result<std::vector<PoolChoice>> pool_devices(const AdviceRequest& request,
                                                           const AdviceHost& host,
                                                           const std::vector<NodeIndex>& homes);

}  // namespace vmnuma
