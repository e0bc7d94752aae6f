// SPDX-License-Identifier: Apache-2.0
/// The port through which the service learns which VMs run. Implemented by balancer/host over
/// libvirt and by the simulated host; both pass the same contract tests.
#pragma once

#include <vector>

#include "placement/base/result.h"
#include "placement/model/domain.h"

namespace vmnuma::stats {

class DomainInventory {
 public:
  virtual ~DomainInventory() = default;

  /// Re-reads every domain that an event marked dirty since the last call (all of them at the first
  /// call and after a reconnect) and returns all running domains, ascending by id. Domains that end
  /// during the call are left out. May block as long as libvirt does, so call it from the inventory
  /// worker only, never within an epoch. Errors: unavailable (currently no connection; the next
  /// call tries again), permission-denied.
  [[nodiscard]] virtual Result<std::vector<VmDescription>> refresh() = 0;
};

}  // namespace vmnuma::stats
