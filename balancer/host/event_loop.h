// SPDX-License-Identifier: Apache-2.0
/// libvirt's event loop in a thread of its own.
///
/// Problem: events, keepalive and notice of a lost connection arrive only while libvirt's event
/// loop runs, and libvirt has one such loop for the whole process. Approach: libvirt's own default
/// loop, run by one thread. Everything that needs it holds a reference, so it is started first and
/// stopped last.
///
/// Properties:
///  - the destructor ends and joins the thread;
///  - signals of the process are never delivered to it;
///  - no libvirt error is printed to stderr, which is libvirt's default; all are returned as
///    values.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "placement/base/result.h"

namespace vmnuma::balancer {

class EventLoop {
 public:
  /// Initialises libvirt and starts the thread. At most one EventLoop at a time per process, before
  /// any connection. Errors: io (libvirt cannot be initialised).
  [[nodiscard]] static Result<std::unique_ptr<EventLoop>> start();

  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  /// Must be called on a thread other than the loop's own, after all connections are closed.
  ~EventLoop();

 private:
  EventLoop();
  void run();

  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace vmnuma::balancer
