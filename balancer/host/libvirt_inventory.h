// SPDX-License-Identifier: Apache-2.0
/// The running VMs, read from libvirt.
///
/// Problem: libvirt's list calls wait for every domain's lock, so one busy domain freezes them all;
/// they must not be repeated every epoch. Approach: list once per connection, remember what was
/// read, and re-read by UUID only what an event marked. The connection is reopened by the first
/// refresh() after it was lost; everything is read anew then, because events may have been missed.
///
/// Properties:
///  - events are subscribed before the list is read, so no change falls between;
///  - a domain that ended is forgotten;
///  - one domain that cannot be read keeps its last description and is tried again by the next
///    refresh(), and never hides the others;
///  - our own pins raise events too, which costs one re-read and ends there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "balancer/host/connection.h"
#include "balancer/host/domain_events.h"
#include "balancer/host/event_loop.h"
#include "balancer/inventory/dirty_domains.h"
#include "placement/model/amounts.h"
#include "stats/domain_inventory.h"

namespace vmnuma::balancer {

struct InventoryOptions {
  std::string uri;                          ///< "qemu:///system"
  placement::Bytes default_huge_page_size;  ///< Hugepagesize of /proc/meminfo
};

class LibvirtInventory final : public stats::DomainInventory {
 public:
  /// Opens nothing yet; the first refresh() does. `loop` must outlive this object. `on_dirty` says
  /// "something changed, call refresh()", once between two refresh() calls, from any thread; it
  /// must only pass the word on (post a task), not call this object. It does not run while
  /// refresh() last answered unavailable: the owner then tries again at times of its own choosing.
  LibvirtInventory(EventLoop& loop, InventoryOptions options, std::function<void()> on_dirty);
  LibvirtInventory(const LibvirtInventory&) = delete;
  LibvirtInventory& operator=(const LibvirtInventory&) = delete;
  /// Waits for a running on_dirty; it never runs afterwards. Not from within on_dirty.
  ~LibvirtInventory() override;

  /// As the port says. Besides its errors: unsupported and invalid-argument for a URI that can
  /// never work. Any thread, one at a time (others wait).
  [[nodiscard]] Result<std::vector<placement::VmDescription>> refresh() override;

  /// Re-reads this VM at the next refresh() and calls on_dirty: for changes that libvirt raises no
  /// event for and somebody else has noticed, such as a plugged vCPU. Any thread, never blocks on
  /// libvirt.
  void mark_dirty(const placement::VmId& vm);

  /// What went wrong with single domains in the last refresh(), by VM id. Any thread.
  [[nodiscard]] std::vector<Error> problems() const;

 private:
  Result<void> ensure_connected();
  Result<void> list_running(DirtyDomains::Marks& marks);
  Result<placement::VmDescription> read(const placement::VmId& vm) const;

  EventLoop& loop_;
  const InventoryOptions options_;
  const std::shared_ptr<DirtyDomains> dirty_;  // shared with libvirt's callbacks

  mutable std::mutex mutex_;  // guards everything below
  std::shared_ptr<Connection> connection_;
  std::unique_ptr<DomainEvents> events_;
  std::map<placement::VmId, placement::VmDescription> known_;
  std::vector<Error> problems_;
};

}  // namespace vmnuma::balancer
