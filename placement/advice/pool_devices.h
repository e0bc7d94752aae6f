// SPDX-License-Identifier: Apache-2.0
/// Which devices of the host's pools a VM takes.
///
/// Problem: where several devices are equal, one is written into each definition by hand, and
/// whoever does it has to know which is free and on which node. Approach: what others have is told,
/// by their definitions and while they run; of the rest the VM takes the one nearest to where it
/// may live and to the devices that it has already, on the node with the most free memory. Nothing
/// is remembered elsewhere: who has which device is what definitions say.
///
/// Properties:
///  1. No device is taken that another VM has, and none twice.
///  2. A VM keeps the devices that it has, unless another VM has them, too; then these are
///  replaced.
///  3. A VM that has what it takes takes the same again.
///  4. If another device would be nearer to where the VM may live, it is not free.
#pragma once

#include <vector>

#include "placement/advice/advice.h"
#include "placement/base/result.h"

namespace vmnuma::placement {

struct PoolChoice {
  AdvisedDevice device;
  NodeId node;  ///< negative: not known
  std::string pool;
  std::string reason;  ///< a sentence
};

/// A device for each pool that the VM's policy names, in its order. `homes` is where the VM may
/// live. Errors: not-found (the host has no such pool), no-space (no device of it is free; says who
/// has them).
[[nodiscard]] Result<std::vector<PoolChoice>> pool_devices(const AdviceRequest& request,
                                                           const AdviceHost& host,
                                                           const std::vector<NodeIndex>& homes);

}  // namespace vmnuma::placement
