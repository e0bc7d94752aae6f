// SPDX-License-Identifier: Apache-2.0
/// Whose vCPUs are no longer those that libvirt told of.
///
/// Problem: libvirt 9.0 raises no event for a vCPU that is plugged into a running VM or taken out
/// of it, so nobody would read its definition again, and the vCPU would run wherever it likes.
/// Approach: the readings of every epoch show the vCPUs that there are; where they differ from the
/// definition, that is to be read again.
///
/// Properties:
///  - each difference is told once, so a definition that goes on to differ is not read every epoch;
///  - a VM without readings is not told.
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
  /// The VMs of `running` (any order) whose readings show other vCPUs, and did not last time.
  [[nodiscard]] std::vector<placement::VmId> changed(
      const std::vector<placement::VmDescription>& running, const placement::Sample& sample);

 private:
  /// What there is instead of what the definition says.
  std::map<placement::VmId, std::vector<std::int32_t>> told_;
};

}  // namespace vmnuma::balancer
