// SPDX-License-Identifier: Apache-2.0
/// Detects VMs with vCPUs other than those that libvirt reported.
///
/// Problem: libvirt 9.0 raises no event for a vCPU hot-plugged into a running VM or removed from
/// it, so its definition would not be read again, and the vCPU would run anywhere. Approach: every
/// epoch's readings show the existing vCPUs; if they differ from the definition, it must be read
/// again.
///
/// Properties:
///  - each difference is reported once, so a definition that continues to differ is not read every
///    epoch;
///  - a VM without readings is not reported.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "placement/model/domain.h"
#include "placement/model/sample.h"

namespace vmnuma::balancer {

/// One thread at a time.
class VcpuWatch {
 public:
  /// Returns those VMs of `running` (in any order) whose vCPUs, according to their readings, differ
  /// from the definition and were not reported with these vCPUs before.
  [[nodiscard]] std::vector<VmId> changed(const std::vector<VmDescription>& running,
                                          const Sample& sample);

 private:
  /// The vCPUs that exist instead of those in the definition, as reported.
  std::map<VmId, std::vector<std::int32_t>> reported_;
};

}  // namespace vmnuma::balancer
