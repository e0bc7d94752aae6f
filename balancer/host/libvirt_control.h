// SPDX-License-Identifier: Apache-2.0
/// Changes to running VMs, made through libvirt.
///
/// Problem: writing cgroups and affinities behind libvirt's back leaves it with outdated state that
/// it writes back at the next hot-plug or restart. Approach: every change is a libvirt call with
/// the LIVE flag, on a connection of its own, so that a nodeset change that copies memory for
/// minutes delays no event and no query. libvirt looks a domain up by UUID only, whatever id it is
/// given, so the id is looked up and compared right before the change, and again after it: a domain
/// that was restarted between the two may be changed, but that is reported.
///
/// Properties:
///  - only the running domain changes; its definition changes only if a policy must persist;
///  - no run of the domain other than the intended one is changed, except as described above;
///  - offline CPUs are left out of a pin if a cpuset of cgroup v1 refuses them;
///  - widening the memory nodes never removes one that the VM may use at that moment;
///  - a lost connection is reopened by the next call.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "balancer/host/connection.h"
#include "balancer/host/event_loop.h"
#include "migration/domain_control.h"

namespace vmnuma::balancer {

/// All functions from any thread; calls for different VMs may run at the same time.
class LibvirtControl final : public migration::DomainControl {
 public:
  /// Opens no connection; the first call does. `loop` must outlive this object.
  LibvirtControl(EventLoop& loop, std::string uri) : loop_(loop), uri_(std::move(uri)) {}

  /// See the port. Additional error: unsupported for a URI that can never work.
  [[nodiscard]] Result<void> pin(const migration::DomainRun& run, migration::ThreadId thread,
                                 const std::vector<CpuId>& cpus) override;
  [[nodiscard]] Result<void> change_memory_nodes(const migration::DomainRun& run,
                                                 const std::vector<NodeId>& nodes,
                                                 migration::MemoryNodes change) override;
  /// A backup does not count as a job, because libvirt lets changes through while it runs.
  [[nodiscard]] Result<void> check_free(const migration::DomainRun& run) override;
  [[nodiscard]] Result<void> set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                                        bool persistent) override;

 private:
  [[nodiscard]] Result<std::shared_ptr<Connection>> connected();

  EventLoop& loop_;
  const std::string uri_;
  std::mutex mutex_;                        // guards connection_, not the calls made through it
  std::shared_ptr<Connection> connection_;  // shared with calls under way when it is replaced
};

}  // namespace vmnuma::balancer
