// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/daemon_watch.h"

#include <algorithm>
#include <utility>

#include "tools/exporter/own_process.h"

namespace vmnuma::tools {

using std::chrono::duration_cast;
using std::chrono::steady_clock;

DaemonWatch::DaemonWatch(Setup setup)
    : setup_(std::move(setup)),
      began_unix_s_(
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
              .count()) {
  read_once();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void DaemonWatch::read_once() {
  const auto begin = steady_clock::now();
  Result<Views> views = setup_.read();
  Reading reading;
  reading.took = duration_cast<std::chrono::microseconds>(steady_clock::now() - begin);
  reading.time_unix_ms =
      duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  if (views) {
    reading.views = std::move(*views);
  } else {
    reading.problem = views.error().message;
    ++failures_;
  }
  reading.failures = failures_;
  reading.process = read_own_process(began_unix_s_);
  if (const bool is_up = reading.views.has_value(); is_up != was_up_) {
    was_up_ = is_up;
    setup_.log(is_up ? "the daemon answers again" : reading.problem + "; trying again");
  }
  setup_.tell(reading);
}

void DaemonWatch::run(const std::stop_token& stop) {
  auto next = steady_clock::now();
  while (true) {
    // Readings missed because of a slow daemon are skipped, not made up for.
    next = std::max(next + setup_.interval, steady_clock::now());
    std::unique_lock lock(mutex_);
    if (stopped_.wait_until(lock, stop, next, [&] { return stop.stop_requested(); })) {
      return;
    }
    lock.unlock();
    read_once();
  }
}

}  // namespace vmnuma::tools
