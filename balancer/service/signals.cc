// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/signals.h"

#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "balancer/service/log.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {
namespace {

/// The time for the last log line, which may hang like everything else.
constexpr std::chrono::milliseconds kPatienceWithLog{300};

sigset_t ours() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&set, signal);
  }
  return set;
}

/// "'libvirt' (listing the VMs, for 37 s)", for all busy places.
std::string text_of(const std::vector<TaskBoard::BusyPlace>& busy) {
  std::string text;
  for (const TaskBoard::BusyPlace& place : busy) {
    const std::string file = file_waited_for(place.task.thread);
    const auto passed = std::chrono::steady_clock::now() - place.task.since;
    text += fmt::format("{}'{}' ({}{}, for {} s)", text.empty() ? "" : ", ", place.name,
                        place.task.doing, file.empty() ? "" : fmt::format(", at '{}'", file),
                        std::chrono::floor<std::chrono::seconds>(passed).count());
  }
  return text.empty() ? "an unknown place" : text;
}

}  // namespace

Signals::Signals(const TaskBoard& board) : board_(board) {
  const sigset_t set = ours();
  VMNUMA_CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  thread_ = std::thread([this] { take(); });
}

Signals::~Signals() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  (void)pthread_kill(thread_.native_handle(), SIGHUP);  // wakes it; fails only if it has ended
  thread_.join();
}

void Signals::pass_to(Handlers handlers) {
  const std::lock_guard lock(mutex_);
  handlers_ = std::move(handlers);
  if (std::exchange(reload_waits_, false)) {
    handlers_->reload();
  }
}

bool Signals::stop_passing() {
  const std::lock_guard lock(mutex_);
  handlers_.reset();
  return until_.has_value();
}

void Signals::allow_until(Time until) {
  {
    const std::lock_guard lock(mutex_);
    until_ = until;
  }
  changed_.notify_all();
}

void Signals::take() {
  (void)pthread_setname_np(pthread_self(), "signals");
  const sigset_t set = ours();
  for (;;) {
    int signal = 0;
    VMNUMA_CHECK(sigwait(&set, &signal) == 0);
    std::unique_lock lock(mutex_);
    if (over_) {
      return;
    }
    if (signal == SIGHUP) {
      reload_waits_ = !handlers_;
      if (handlers_) {
        handlers_->reload();
      }
      continue;
    }
    if (!handlers_) {
      ::_exit(0);  // nothing has begun, or everything has ended
    }
    handlers_->stop();
    until_ = std::chrono::steady_clock::now() + kPatience;
    while (!over_) {
      if (changed_.wait_until(lock, *until_) == std::cv_status::timeout &&
          std::chrono::steady_clock::now() >= *until_ && !over_) {
        give_up();
      }
    }
    return;
  }
}

void Signals::give_up() const {
  auto said = std::make_shared<std::promise<void>>();
  std::future<void> done = said->get_future();
  std::thread([said, text = text_of(board_.busy())] {
    Log(Severity::kInfo)
        .write(Severity::kError,
               fmt::format("stopping takes too long, exiting without it; still at work: {}", text));
    said->set_value();
  }).detach();
  (void)done.wait_for(kPatienceWithLog);
  ::_exit(kExitHung);
}

}  // namespace vmnuma::balancer
