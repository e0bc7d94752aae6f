// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <poll.h>
#include <syslog.h>
#include <unistd.h>

#include "stats/text/printable.h"
#include "tools/hook/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  // Messages also go to the system's log in case the caller no longer reads them.
  (void)std::signal(SIGPIPE, SIG_IGN);
  ::openlog("vmnuma-hook", LOG_PID, LOG_DAEMON);
  const auto report = [](const std::string& sentence) {
    const std::string line = vmnuma::text::printable(sentence);
    std::cerr << "vmnuma-hook: " << line << "\n";
    ::syslog(LOG_NOTICE, "%s", line.c_str());
  };
  const auto pause = [](std::chrono::milliseconds time) {
    // The script that runs it sends this signal after a second, in case it hangs.
    (void)std::signal(SIGUSR1, SIG_IGN);
    // A pipe reports an error once it has no reader, which shows that the caller is gone: libvirt
    // reads the output of its hooks until they end.
    pollfd said{STDERR_FILENO, 0, 0};
    return ::poll(&said, 1, static_cast<int>(time.count())) == 0;
  };
  return vmnuma::tools::run_hook(arguments,
                                 {STDIN_FILENO, std::cout, "/", report, vmnuma::tools::kHookLimit,
                                  std::time(nullptr), pause, std::chrono::steady_clock::now});
}
