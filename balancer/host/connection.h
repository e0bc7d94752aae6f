// SPDX-License-Identifier: Apache-2.0
/// An open connection to libvirt.
///
/// Problem: when libvirtd dies a connection dies with it, stays dead, and reports that only to
/// registered callbacks; and some connections must not be used at all. Approach: a Connection is
/// open from its creation and is never repaired: a user that finds it closed drops it and opens
/// another. Only the local host's system driver is accepted, because everything else (another
/// host's VMs, session VMs without their own cgroups) cannot be judged by this host's counters.
/// libvirt's test driver is accepted too; it is what the tests use.
///
/// Properties:
///  - a vanished libvirtd is detected without a call (end of file, or keepalive after about 20 s);
///  - the callback for it runs at most once;
///  - nothing stays registered with libvirt after the destructor.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "balancer/host/event_loop.h"
#include "balancer/host/handles.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// What a connection may do. libvirt refuses every change on a read-only one, so code that only
/// reads cannot change a domain, whatever its bugs.
enum class Access { kReadOnly, kReadWrite };

class Connection {
 public:
  /// Opens `uri`, for example "qemu:///system". May block while libvirtd does not answer.
  /// `on_closed` runs in the event loop's thread when the other side is gone; it must neither block
  /// nor touch the Connection. Errors: unsupported (session, remote or foreign URI),
  /// invalid-argument (not a URI), unavailable (libvirtd does not run), permission-denied.
  [[nodiscard]] static Result<std::shared_ptr<Connection>> open(EventLoop& loop,
                                                                const std::string& uri,
                                                                Access access,
                                                                std::function<void()> on_closed);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  /// Must not be called from the event loop's thread.
  ~Connection();

  /// For libvirt calls, from any thread; valid as long as this object exists.
  [[nodiscard]] _virConnect* get() const { return handle_.get(); }

  /// False once the other side is gone. A call may still be the first to find that out.
  [[nodiscard]] bool is_open() const;

  /// The flags that make a change apply to the running domain: VIR_DOMAIN_AFFECT_LIVE, and 0
  /// ("current state") with the test driver, which refuses LIVE for vCPU pins.
  [[nodiscard]] unsigned int change_flags() const { return change_flags_; }

 private:
  explicit Connection(ConnectionHandle handle) : handle_(std::move(handle)) {}

  ConnectionHandle handle_;
  unsigned int change_flags_ = 0;
  bool listens_for_close_ = false;
};

}  // namespace vmnuma::balancer
