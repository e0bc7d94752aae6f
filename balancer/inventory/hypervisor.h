// SPDX-License-Identifier: Apache-2.0
/// One source of VMs on the host, with what it takes to change them: libvirt, or QEMU processes
/// that nobody but us looks after.
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
  /// As stats::DomainInventory has it. One thread at a time.
  [[nodiscard]] virtual Result<std::vector<placement::VmDescription>> refresh() = 0;
  /// What somebody should know of what refresh() found, each once: sentences. Like refresh().
  [[nodiscard]] virtual std::vector<std::string> take_notices() = 0;
  /// Looks at this VM again with the next refresh(), and says that there is a change. Any thread,
  /// never blocks.
  virtual void mark_dirty(const placement::VmId& vm) = 0;
  [[nodiscard]] virtual migration::DomainControl& control() = 0;
};

}  // namespace vmnuma::balancer
