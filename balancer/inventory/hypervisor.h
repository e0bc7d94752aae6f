// SPDX-License-Identifier: Apache-2.0
/// The port to one source of VMs on the host, and the means to change them: libvirt, or the QEMU
/// processes that nothing else manages. tests/contract holds what every implementation promises.
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
  /// Re-reads every domain that an event marked dirty since the last call (all of them at the first
  /// call and after a reconnect) and returns all running domains, ascending by id. Domains that end
  /// during the call are left out. May block as long as libvirt does, so call it from the inventory
  /// worker only, never within an epoch. One thread at a time. Errors: unavailable (currently no
  /// connection; the next call tries again), permission-denied.
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
