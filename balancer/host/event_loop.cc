// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/event_loop.h"

#include <csignal>

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "balancer/host/errors.h"

namespace vmnuma::balancer {
namespace {

void print_nothing(void*, virErrorPtr) {}

/// Runs in the loop's thread: the loop checks the flag after each iteration.
void request_stop(int timer, void* stopping) {
  static_cast<std::atomic<bool>*>(stopping)->store(true);
  (void)virEventRemoveTimeout(timer);  // fails only for a timer that is gone already
}

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::start() {
  virSetErrorFunc(nullptr, print_nothing);
  if (virInitialize() < 0 || virEventRegisterDefaultImpl() < 0) {
    return tl::unexpected<Error>(last_libvirt_error("cannot prepare libvirt"));
  }
  return std::unique_ptr<EventLoop>(new EventLoop());
}

EventLoop::EventLoop() {
  // A thread inherits its creator's signal mask: only the service decides which thread receives
  // signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  VMNUMA_CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
  thread_ = std::thread([this] { run(); });
  VMNUMA_CHECK(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
}

EventLoop::~EventLoop() {
  // A timer wakes the loop. It runs after the releases that closed connections have left pending,
  // because those have a higher priority in the loop.
  VMNUMA_CHECK(virEventAddTimeout(0, request_stop, &stopping_, nullptr) >= 0);
  thread_.join();
}

void EventLoop::run() {
  while (!stopping_) {
    VMNUMA_CHECK(virEventRunDefaultImpl() == 0);  // fails only if no loop was registered
  }
}

}  // namespace vmnuma::balancer
