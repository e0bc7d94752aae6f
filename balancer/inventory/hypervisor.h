// SPDX-License-Identifier: Apache-2.0
/// One source of VMs on the host, and the means to change them: libvirt, or the QEMU processes that
/// nothing else manages.
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

  /// The source's name in messages: "libvirt at qemu:///system".
  [[nodiscard]] virtual std::string name() const = 0;
  /// See stats::DomainInventory. One thread at a time.
  [[nodiscard]] virtual Result<std::vector<VmDescription>> refresh() = 0;
  /// Returns the VMs that run but that no refresh() could describe yet. Same thread as refresh().
  [[nodiscard]] virtual std::vector<VmId> unreadable() const { return {}; }
  /// Returns notices about what refresh() found, as sentences, each once. Same thread as refresh().
  [[nodiscard]] virtual std::vector<std::string> take_notices() = 0;
  /// Marks this VM to be read again by the next refresh(), and reports a change. Any thread, never
  /// blocks.
  virtual void mark_dirty(const VmId& vm) = 0;
  [[nodiscard]] virtual migration::DomainControl& control() = 0;
};

}  // namespace vmnuma::balancer
