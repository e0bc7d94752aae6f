// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/follower_pause.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>

#include "placement/base/result.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::tools {

std::function<bool(std::chrono::milliseconds)> follower_pause(int out) {
  using std::chrono::steady_clock;
  sigset_t signals{};
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&signals, number);
  }
  VMNUMA_CHECK(pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0);
  // Shared, because a std::function must be copyable.
  const auto stop =
      std::make_shared<const files::FileDescriptor>(::signalfd(-1, &signals, SFD_CLOEXEC));
  return [stop, out](std::chrono::milliseconds time) {
    const auto end = steady_clock::now() + time;
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
      // For `out` only the end of its reader is of interest, which poll(2) always reports.
      std::array<pollfd, 2> ends{pollfd{stop->get(), POLLIN, 0}, pollfd{out, 0, 0}};
      const int ready = ::poll(ends.data(), ends.size(),
                               static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
      if (ready == 0) {
        return true;
      }
      if (ready > 0 || errno != EINTR) {
        return false;
      }
    }
  };
}

}  // namespace vmnuma::tools
