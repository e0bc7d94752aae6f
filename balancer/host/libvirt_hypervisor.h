// SPDX-License-Identifier: Apache-2.0
/// libvirt as a source of VMs: the running VMs, and their control.
///
/// Problem: libvirt's list calls wait for every domain's lock, so one busy domain blocks them all;
/// they must not be repeated every epoch. Approach: list once per connection, remember the result,
/// and re-read by UUID only what an event marked. The connection is reopened by the first refresh()
/// after it was lost; everything is then read again, because events may have been missed.
///
/// Properties:
///  - events are subscribed before the list is read, so no change is missed;
///  - a domain that ended is forgotten;
///  - a domain that cannot be read keeps its last description, is retried by the next refresh(),
///    and never hides the others;
///  - our own pins raise events too, which cost one re-read and no more.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "balancer/host/connection.h"
#include "balancer/host/domain_events.h"
#include "balancer/host/event_loop.h"
#include "balancer/host/libvirt_control.h"
#include "balancer/inventory/dirty_domains.h"
#include "balancer/inventory/hypervisor.h"
#include "placement/model/amounts.h"

namespace vmnuma::balancer {

struct LibvirtOptions {
  std::string uri;               ///< "qemu:///system"
  Bytes default_huge_page_size;  ///< Hugepagesize of /proc/meminfo
};

class LibvirtHypervisor final : public Hypervisor {
 public:
  /// Opens no connection; the first refresh() does, so libvirtd need not be running yet. `on_dirty`
  /// means "something changed, call refresh()". It is called once between two refresh() calls, from
  /// any thread, and must only forward this (post a task), not call this object. It is not called
  /// while the last refresh() returned unavailable: the owner then retries at times of its own
  /// choosing.
  LibvirtHypervisor(std::shared_ptr<EventLoop> loop, LibvirtOptions options,
                    std::function<void()> on_dirty);
  LibvirtHypervisor(const LibvirtHypervisor&) = delete;
  LibvirtHypervisor& operator=(const LibvirtHypervisor&) = delete;
  /// Waits for a running on_dirty, which is never called afterwards. Must not be called from
  /// on_dirty.
  ~LibvirtHypervisor() override;

  [[nodiscard]] std::string name() const override { return "libvirt at " + options_.uri; }
  /// See the port. Additional errors: unsupported and invalid-argument for a URI that can never
  /// work. Any thread, one at a time (others wait).
  [[nodiscard]] Result<std::vector<VmDescription>> refresh() override;
  /// Running domains that neither the last refresh() nor an earlier one could read. Any thread.
  [[nodiscard]] std::vector<VmId> unreadable() const override;

  /// Re-reads this VM at the next refresh() and calls on_dirty. For externally noticed changes for
  /// which libvirt raises no event, such as a plugged vCPU. Any thread, never blocks on libvirt.
  void mark_dirty(const VmId& vm) override;

  /// Sentences about domains that could not be read; each is returned once for as long as the
  /// problem lasts. Any thread.
  [[nodiscard]] std::vector<std::string> take_notices() override;
  [[nodiscard]] migration::DomainControl& control() override { return control_; }

 private:
  Result<void> ensure_connected();
  Result<void> list_running(DirtyDomains::Marks& marks);
  Result<VmDescription> read(const VmId& vm) const;

  const std::shared_ptr<EventLoop> loop_;  // first, so that it ends last
  const LibvirtOptions options_;
  LibvirtControl control_;
  const std::shared_ptr<DirtyDomains> dirty_;  // shared with libvirt's callbacks

  mutable std::mutex mutex_;  // guards everything below
  std::shared_ptr<Connection> connection_;
  std::unique_ptr<DomainEvents> events_;
  std::map<VmId, VmDescription> known_;
  std::vector<VmId> unreadable_;    ///< and not in `known_`
  std::set<std::string> problems_;  ///< of single domains, in the last refresh()
  std::vector<std::string> notices_;
};

}  // namespace vmnuma::balancer
