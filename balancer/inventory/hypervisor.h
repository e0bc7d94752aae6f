// SPDX-License-Identifier: Apache-2.0
/// One source of VMs on the host, and the means to change them: libvirt, or QEMU processes that are
/// managed by nothing else.
#pragma once

#include <string>
#include <vector>

#include "migration/domain_control.h"
#include "placement/base/result.h"
#include "placement/model/domain.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer {

class Hypervisor {
 public:
  virtual ~Hypervisor() = default;

  /// For messages: "libvirt at qemu:///system".
  [[nodiscard]] virtual std::string name() const = 0;
  /// See stats::DomainInventory. One thread at a time.
  [[nodiscard]] virtual Result<std::vector<VmDescription>> refresh() = 0;
  /// Notices about what refresh() found, each returned once: sentences. Same thread as refresh().
  [[nodiscard]] virtual std::vector<std::string> take_notices() = 0;
  /// Reads this VM again in the next refresh(), and reports a change. Any thread, never blocks.
  virtual void mark_dirty(const VmId& vm) = 0;
  [[nodiscard]] virtual migration::DomainControl& control() = 0;
};

}  // namespace vmnuma::balancer
