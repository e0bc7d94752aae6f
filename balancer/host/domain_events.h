// SPDX-License-Identifier: Apache-2.0
/// A connection's domain events, turned into marks.
///
/// Problem: polling libvirt's list blocks behind any busy domain, so changes must be learnt from
/// events. Approach: every event that may indicate a change of the domain XML marks its domain.
/// Nothing else is taken from it, because the contents of events are neither complete nor in order
/// (a start reports "resumed" before "started"). Events: life cycle, tunables (pins, shares,
/// quotas, set by anyone), metadata, balloon, memory device size, devices added and removed.
/// libvirt 9.0 has none for a plugged vCPU and none for a changed nodeset. Properties: nothing
/// stays registered after the destructor.
#pragma once

#include <memory>
#include <vector>

#include "balancer/host/connection.h"
#include "balancer/inventory/dirty_domains.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

class DomainEvents {
 public:
  /// Starts marking domains in `dirty` for events of `connection`. `dirty` is shared, because
  /// libvirt may still be running a callback when it is deregistered. Errors: as errors.h maps
  /// them.
  [[nodiscard]] static Result<std::unique_ptr<DomainEvents>> subscribe(
      std::shared_ptr<Connection> connection, const std::shared_ptr<DirtyDomains>& dirty);

  DomainEvents(const DomainEvents&) = delete;
  DomainEvents& operator=(const DomainEvents&) = delete;
  ~DomainEvents();

 private:
  explicit DomainEvents(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)) {}

  std::shared_ptr<Connection> connection_;  // kept open until the events are deregistered
  std::vector<int> registrations_;
};

}  // namespace vmnuma::balancer
